import type { Counts } from '../protocol/health.js';

/** Counts and words of the verdict on health. Pure. */

export type Codes = [code: string, count: number][];

/** Counts under a prefix. */
export interface Group {
  failed: number;
  total: number;
  /** Of those that failed, most frequent first. */
  codes: Codes;
}

/** Counts under a prefix: those that failed, most frequent first, and all. */
export function group(counts: Counts, prefix: string, success?: string): Group {
  const of: Codes = Object.entries(counts)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, count]) => [name.slice(prefix.length), count]);
  const codes = of
    .filter(([code]) => code !== success)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const add = (sum: number, [, count]: [string, number]): number => sum + count;
  return { failed: codes.reduce(add, 0), total: of.reduce(add, 0), codes };
}

/** Runs that ended, and those that failed by their codes. */
export function outcomesOfRuns(counts: Counts): Group {
  const { failed, codes } = group(counts, 'run:failed:');
  const others = Object.entries(counts)
    .filter(([name]) => name.startsWith('run:') && !name.startsWith('run:failed:'))
    .reduce((sum, [, count]) => sum + count, 0);
  return { failed, total: failed + others, codes };
}

export function isMuch(
  { failed, total }: { failed: number; total: number },
  { share, least }: { share: number; least: number },
): boolean {
  return failed >= least && failed > total * share;
}

export function describe(codes: Codes): string {
  return codes
    .slice(0, 3)
    .map(([code, count]) => `${code} ${String(count)}`)
    .join(', ');
}

const UNITS = [
  ['d', 24 * 60 * 60_000],
  ['h', 60 * 60_000],
  ['min', 60_000],
] as const;

/** In whole units: texts do not change with every look. */
export function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, least]) => ms >= least) ?? (['s', 1_000] as const);
  return `${String(Math.floor(ms / size))} ${unit}`;
}

export function wait(count: number): string {
  return count === 1 ? 'waits' : 'wait';
}

export function plural(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
