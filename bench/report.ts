/** A row of the table: a measurement and its floor or peer from the same run. */
export interface Row {
  what: string;
  unit: 'ms' | 'MB' | 'KB' | 'events' | 'bytes' | 'times' | 'k/s' | '1/s' | 'ns' | 'µs';
  value: Pick<Summary, 'p50'> & Partial<Summary>;
  /** Reference value; absent if there is none. */
  beside?: { what: string; value: Pick<Summary, 'p50'> & Partial<Summary> };
  aim?: Aim;
}

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
  /** An alternative that suffices. */
  or?: Aim;
}

export interface Report {
  rows: Row[];
  /** Sentences under the table about facts that the figures do not show. */
  notes: string[];
}

export function ratioOf({ value, beside }: Row): number | undefined {
  return beside === undefined ? undefined : value.p50 / beside.value.p50;
}

/** Returns undefined if one side has no p99. */
export function ratioP99Of({ value, beside }: Row): number | undefined {
  if (value.p99 === undefined || beside?.value.p99 === undefined) return undefined;
  return value.p99 / beside.value.p99;
}

/** Returns undefined without an aim, and false if a figure is missing. */
export function meetsAim(row: Row): boolean | undefined {
  return row.aim === undefined ? undefined : meets(row, row.aim);
}

function meets(row: Row, aim: Aim): boolean {
  const { value } = row;
  if (aim.or !== undefined && meets(row, aim.or)) return true;
  return (
    (aim.p50 === undefined || value.p50 <= aim.p50) &&
    (aim.p99 === undefined || (value.p99 ?? NaN) <= aim.p99) &&
    (aim.ratio === undefined || (ratioOf(row) ?? NaN) <= aim.ratio) &&
    (aim.ratioP99 === undefined || (ratioP99Of(row) ?? NaN) <= aim.ratioP99) &&
    (aim.ratioAtLeast === undefined || (ratioOf(row) ?? NaN) >= aim.ratioAtLeast)
  );
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
    [ratioOf(row), ratioP99Of(row)].map(toRatio).filter(Boolean).join(' / '),
    toAim(row.aim),
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

function toAim(aim: Aim = {}): string {
  return [
    aim.ratio !== undefined && `≤ ${String(aim.ratio)}×`,
    aim.ratioP99 !== undefined && `p99 ≤ ${String(aim.ratioP99)}×`,
    aim.ratioAtLeast !== undefined && `≥ ${String(aim.ratioAtLeast)}×`,
    aim.p50 !== undefined && `p50 ≤ ${String(aim.p50)}`,
    aim.p99 !== undefined && `p99 ≤ ${String(aim.p99)}`,
  ]
    .filter(Boolean)
    .join(', ')
    .concat(aim.or === undefined ? '' : ` or ${toAim(aim.or)}`);
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
