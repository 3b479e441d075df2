import { summarize } from '../report.js';

/** Findings of a soak; everything except `recoveries` must be zero. */
export interface Verdict {
  /** Sent words that are not stored, and turns that did not end. */
  lost: number;
  /** Words stored or shown more than once or out of order. */
  doubled: number;
  /** Conversations that did not come to rest. */
  stuck: number;
  /** Executions of an effect beyond the first. */
  twice: number;
  /** Leftover keys and workflows, and processes whose memory grows. */
  leaked: number;
  /** Readers' waits for their next word after a fault, ms. */
  recoveries: number[];
}

export const KINDS = ['lost', 'doubled', 'stuck', 'twice', 'leaked'] as const;
export type Kind = (typeof KINDS)[number];

export function createVerdict(): Verdict {
  return { lost: 0, doubled: 0, stuck: 0, twice: 0, leaked: 0, recoveries: [] };
}

/** Extent of the soak; nothing can be found if nothing was played. */
export interface Played {
  turns: number;
  /** Undefined if no faults were wanted. */
  faults: number | undefined;
}

export function isClean(verdict: Verdict, { turns, faults }: Played): boolean {
  return turns > 0 && faults !== 0 && KINDS.every((kind) => verdict[kind] === 0);
}

/** Formats the closing line. `recovery_p99` is in ms, 0 if no reader had to wait. */
export function formatVerdict(verdict: Verdict): string {
  const counts = KINDS.map((kind) => `${kind} ${String(verdict[kind])}`);
  const { p99, count } = summarize(verdict.recoveries);
  return `VERDICT ${counts.join(' ')} recovery_p99 ${String(count > 0 ? Math.round(p99) : 0)}`;
}
