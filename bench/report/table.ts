import { meetsAim, ratioOf, ratioP99Of, type Aim, type Row } from './row.js';

const HEADER = ['what', 'unit', 'p50', 'p99', 'beside it', 'p50', 'p99', 'ratio', 'aim', ''];
/** Columns of words; the others hold figures and are set to the right. */
const TEXT = new Set([0, 1, 4, 8, 9]);

/** The rows as aligned text. */
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

/** About three digits that say something. */
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
