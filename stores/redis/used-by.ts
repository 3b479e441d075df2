import type { UsedBy } from '../transitions/lib/used.js';
import type { Charged } from './charged.js';

/** Sums of a day are kept this long, which is enough for a report of a year. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000;

/** What the usage of a session belongs to at this moment; undefined if it has ended no run. */
export function toUsedBy(charged: Charged | undefined, now: number): UsedBy | undefined {
  if (charged?.standing.spent === undefined) return undefined;
  const { agent, model } = charged;
  const day = toDay(now);
  const by = JSON.stringify([agent, model]);
  return { by, day, month: day.slice(0, 6), keepMs: KEPT_MS };
}

/** UTC, `20261130`. */
export function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}
