import type { FindingRow } from './findings/measure-findings.js';
import type { LargeRow, Sample } from './large.js';
import type { SmallRow } from './small.js';

/** For longer than this no command may keep everybody else waiting. */
export const LIMIT_MS = 5;

/** Column names of one build, or of two and their ratio. */
function sidesOf<T>(sides: readonly T[], one: string[]): string[] {
  return sides.length === 1 ? one : [...one, ...one.map((name) => `${name}'`), 'ratio'];
}

export function formatSmall(rows: readonly SmallRow[]): string {
  const [first] = rows;
  const header = ['small session, µs', ...sidesOf(first?.costs ?? [], ['median', 'min'])];
  const body = rows.map(({ name, costs }) => [
    name,
    ...costs.flatMap(({ median, min }) => [median.toFixed(1), min.toFixed(1)]),
    // Other programs only add: of the minima the ratio is steady.
    ...toRatio(costs.map(({ min }) => min)),
  ]);
  return align([header, ...body]);
}

/** @param sessions heads of the columns */
export function formatLarge(rows: readonly LargeRow[], sessions: readonly string[]): string {
  const [first] = rows;
  const columns = sessions.flatMap((name, at) => sidesOf(first?.cells[at] ?? [], [name]));
  const body = rows.map(({ name, cells }) => [name, ...cells.flatMap(toCells)]);
  return align([['longest command, ms', ...columns], ...body]);
}

/** The longest command, and the sum of all: a transition may work in pages. */
export function formatFindings(rows: readonly FindingRow[]): string {
  const [first] = rows;
  const sides = (first?.found ?? []).flatMap((_, at) =>
    ['longest, ms', 'all, ms', 'commands'].map((name) => (at === 0 ? name : `${name}'`)),
  );
  const body = rows.map(({ name, found }) => [
    name,
    ...found.flatMap((sample) =>
      sample instanceof Error
        ? [toCell(sample), '', '']
        : [toCell(sample), (sample.us / 1000).toFixed(2), String(sample.scripts)],
    ),
  ]);
  return align([['', ...sides], ...body]);
}

/** What stands behind an `error` cell. */
export function errorsOf(rows: readonly { name: string; found: readonly Sample[] }[]): string[] {
  const texts = rows.flatMap(({ name, found }) =>
    found.flatMap((sample) => (sample instanceof Error ? `${name}: ${sample.message}` : [])),
  );
  return [...new Set(texts)];
}

function toCells(found: readonly Sample[]): string[] {
  const figures = found.map((sample) => (sample instanceof Error ? NaN : sample.longestUs / 1000));
  // Below a millisecond it is chance.
  const isWorth = figures.some((figure) => figure >= 1);
  const ratio = toRatio(figures);
  return [...found.map(toCell), ...(isWorth ? ratio : ratio.map(() => ''))];
}

function toCell(sample: Sample): string {
  if (sample instanceof Error) return 'error  ';
  const ms = sample.longestUs / 1000;
  return `${ms.toFixed(2)}${ms > LIMIT_MS ? ' !' : '  '}`;
}

/** Nothing for one build. */
function toRatio([own, other]: readonly number[]): string[] {
  if (own === undefined || other === undefined) return [];
  return [Number.isFinite(own / other) ? `${(own / other).toFixed(2)}×` : ''];
}

/** The first column holds words, the others figures, which are set to the right. */
function align(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => size(line[at]))));
  const [header = [], ...body] = lines;
  return [header, widths.map((width) => '-'.repeat(width)), ...body]
    .map((line) =>
      line
        .map((cell, at) => {
          const padding = ' '.repeat((widths[at] ?? 0) - size(cell));
          return at === 0 ? cell + padding : padding + cell;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function size(cell = ''): number {
  return Array.from(cell).length;
}
