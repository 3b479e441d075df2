/** A row of the table: a measurement and its floor or peer from the same run. */
export interface Row {
  what: string;
  unit: string;
  value: Figure;
  /** Reference value; absent if there is none. */
  beside?: { what: string; value: Figure };
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

/** Returns undefined if one side has no such figure. */
function ratioOf({ value, beside }: Row, at: 'p50' | 'p99'): number | undefined {
  const [own, other] = [value[at], beside?.value[at]];
  return own === undefined || other === undefined ? undefined : own / other;
}

type Rule = [write: (limit: number) => string, holds: (row: Row, limit: number) => boolean];

/** How each aim is written, and when it holds: never for a figure that is missing. */
const RULES: Record<keyof Aim, Rule> = {
  ratio: [(n) => `≤ ${String(n)}×`, (row, n) => (ratioOf(row, 'p50') ?? NaN) <= n],
  ratioP99: [(n) => `p99 ≤ ${String(n)}×`, (row, n) => (ratioOf(row, 'p99') ?? NaN) <= n],
  ratioAtLeast: [(n) => `≥ ${String(n)}×`, (row, n) => (ratioOf(row, 'p50') ?? NaN) >= n],
  p50: [(n) => `p50 ≤ ${String(n)}`, ({ value }, n) => value.p50 <= n],
  p99: [(n) => `p99 ≤ ${String(n)}`, ({ value }, n) => (value.p99 ?? NaN) <= n],
};

const aimsOf = (aim: Aim): [Rule, number][] =>
  Object.entries(aim).map(([name, limit]) => [RULES[name as keyof Aim], limit as number]);

/** Returns undefined without an aim. */
export function meetsAim(row: Row): boolean | undefined {
  return row.aim && aimsOf(row.aim).every(([[, holds], limit]) => holds(row, limit));
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
/** Text columns; the others hold figures and are right-aligned. */
const TEXT = new Set([0, 1, 4, 8, 9]);

/** Formats the rows as aligned text. */
export function formatTable(rows: readonly Row[]): string {
  const lines = [HEADER, ...rows.map(toCells)];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => width(line[column]))));
  const rule = widths.map((size) => '-'.repeat(size));
  const [header = [], ...body] = lines;
  return [header, rule, ...body].map((line) => toLine(line, widths)).join('\n');
}

function toCells(row: Row): string[] {
  const { what, unit, value, beside } = row;
  const met = meetsAim(row);
  return [
    what,
    unit,
    toFigure(value.p50),
    toFigure(value.p99),
    beside?.what ?? '',
    toFigure(beside?.value.p50),
    toFigure(beside?.value.p99),
    [ratioOf(row, 'p50'), ratioOf(row, 'p99')].map(toRatio).filter(Boolean).join(' / '),
    toAim(row.aim),
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

function toAim(aim: Aim = {}): string {
  return aimsOf(aim)
    .map(([[write], limit]) => write(limit))
    .join(', ');
}

function toRatio(ratio: number | undefined): string {
  return ratio === undefined ? '' : `${ratio.toFixed(2)}×`;
}

/** Formats about three significant digits. */
function toFigure(value: number | undefined): string {
  if (value === undefined) return '';
  if (Number.isNaN(value)) return 'none';
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
}

function toLine(cells: readonly string[], widths: readonly number[]): string {
  return widths
    .map((size, column) => {
      const cell = cells[column] ?? '';
      const padding = ' '.repeat(size - width(cell));
      return TEXT.has(column) ? cell + padding : padding + cell;
    })
    .join('  ')
    .trimEnd();
}

function width(cell: string | undefined): number {
  return Array.from(cell ?? '').length;
}
