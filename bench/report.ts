/** A row of the table: a measurement and its floor or peer from the same run. */
export interface Row {
  what: string;
  unit: string;
  value: Figure;
  /** Reference value; absent if there is none. */
  beside?: { what: string; value: Figure } | undefined;
  aim?: Aim | undefined;
}

type Figure = Pick<Summary, 'p50'> & Partial<Summary>;

/** Aims: factors over the floor, or absolute figures. All given ones must hold. */
export interface Aim {
  /** Largest factor over the floor's median. */
  ratio?: number;
  /** Largest factor over the floor's p99. */
  ratioP99?: number;
  /** Least factor, for figures that should be large. */
  ratioAtLeast?: number;
  p50?: number;
  p99?: number;
}

/** Samples, or one figure. */
type Value = number | readonly number[];

/** Makes a row; `beside` has the name of the floor and its value. */
export function row(
  what: string,
  unit: string,
  value: Value,
  { beside, aim }: { beside?: readonly [what: string, value: Value]; aim?: Aim | undefined } = {},
): Row {
  const floor = beside && { what: beside[0], value: toFigure(beside[1]) };
  return { what, unit, value: toFigure(value), beside: floor, aim };
}

function toFigure(value: Value): Figure {
  return typeof value === 'number' ? { p50: value } : summarize(value);
}

/** Returns undefined if one side has no such figure. */
function ratioOf({ value, beside }: Row, at: 'p50' | 'p99'): number | undefined {
  const [own, other] = [value[at], beside?.value[at]];
  return own === undefined || other === undefined ? undefined : own / other;
}

type Rule = [write: (limit: number) => string, holds: (row: Row, limit: number) => boolean];

/** How each aim is written, and when it holds: never for a figure that is missing. */
const RULES: Record<keyof Aim, Rule> = {
  ratio: [(n) => `≤ ${String(n)}×`, (each, n) => (ratioOf(each, 'p50') ?? NaN) <= n],
  ratioP99: [(n) => `p99 ≤ ${String(n)}×`, (each, n) => (ratioOf(each, 'p99') ?? NaN) <= n],
  ratioAtLeast: [(n) => `≥ ${String(n)}×`, (each, n) => (ratioOf(each, 'p50') ?? NaN) >= n],
  p50: [(n) => `p50 ≤ ${String(n)}`, ({ value }, n) => value.p50 <= n],
  p99: [(n) => `p99 ≤ ${String(n)}`, ({ value }, n) => (value.p99 ?? NaN) <= n],
};

const aimsOf = (aim: Aim): [Rule, number][] =>
  Object.entries(aim).map(([name, limit]) => [RULES[name as keyof Aim], limit as number]);

/** Returns undefined without an aim. */
export function meetsAim(measured: Row): boolean | undefined {
  return measured.aim && aimsOf(measured.aim).every(([[, holds], limit]) => holds(measured, limit));
}

/** A set of samples in two numbers. */
export interface Summary {
  p50: number;
  p99: number;
  count: number;
}

/** Computes nearest-rank percentiles; NaN without samples, so that a failed measurement cannot look good. */
export function summarize(samples: readonly number[]): Summary {
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}

const HEADER = ['what', 'unit', 'p50', 'p99', 'beside it', 'p50', 'p99', 'ratio', 'aim', ''];

/** Columns of figures, which are aligned to the right. */
const FIGURES = new Set([2, 3, 5, 6, 7]);

/** Formats the rows as aligned text. */
export function formatTable(rows: readonly Row[]): string {
  const body = rows.map(toCells);
  const widths = HEADER.map((title, at) =>
    Math.max(title.length, ...body.map((cells) => cells[at]?.length ?? 0)),
  );
  const pad = (cell: string, at: number): string =>
    FIGURES.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  return [HEADER, widths.map((width) => '-'.repeat(width)), ...body]
    .map((cells) => cells.map(pad).join('  ').trimEnd())
    .join('\n');
}

function toCells(measured: Row): string[] {
  const { what, unit, value, beside, aim = {} } = measured;
  const met = meetsAim(measured);
  const ratios = [ratioOf(measured, 'p50'), ratioOf(measured, 'p99')];
  return [
    what,
    unit,
    toText(value.p50),
    toText(value.p99),
    beside?.what ?? '',
    toText(beside?.value.p50),
    toText(beside?.value.p99),
    ratios.flatMap((ratio) => (ratio === undefined ? [] : [`${ratio.toFixed(2)}×`])).join(' / '),
    aimsOf(aim)
      .map(([[write], limit]) => write(limit))
      .join(', '),
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

/** Formats about three significant digits. */
function toText(value: number | undefined): string {
  if (value === undefined) return '';
  if (Number.isNaN(value)) return 'none';
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
}
