import { summarize } from '../report.js';

/** What a soak found; everything but `recoveries` has to be nothing. */
export interface Verdict {
  /** Words that were sent and are not stored, and turns that did not end. */
  lost: number;
  /** Words that are stored or were shown more than once, or in another order. */
  doubled: number;
  /** Conversations that did not come to rest. */
  stuck: number;
  /** Executions of an effect beyond the first. */
  twice: number;
  /** Keys and workflows that stay behind, and processes whose memory grows. */
  leaked: number;
  /** How long readers waited for their next word when something had failed, ms. */
  recoveries: number[];
}

export const KINDS = ['lost', 'doubled', 'stuck', 'twice', 'leaked'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * Reads which faults are to be planted, so that it can be seen that they are noticed.
 *
 * @param names `all`, or some with commas between them
 * @throws Error in one line
 */
export function readPlanted(names: string): Kind[] {
  if (names === 'all') return [...KINDS];
  return names
    .split(',')
    .filter(Boolean)
    .map((name) => {
      const kind = KINDS.find((each) => each === name);
      if (kind === undefined) throw new Error(`--plant takes ${KINDS.join(', ')} or all: ${name}`);
      return kind;
    });
}

export function createVerdict(): Verdict {
  return { lost: 0, doubled: 0, stuck: 0, twice: 0, leaked: 0, recoveries: [] };
}

/** What was played; nothing can be found where nothing was. */
export interface Played {
  turns: number;
  /** Undefined where none were wanted. */
  faults: number | undefined;
}

export function isClean(verdict: Verdict, { turns, faults }: Played): boolean {
  return turns > 0 && faults !== 0 && KINDS.every((kind) => verdict[kind] === 0);
}

/** The closing line. `recovery_p99` is in ms, 0 if no reader had to wait. */
export function formatVerdict(verdict: Verdict): string {
  const counts = KINDS.map((kind) => `${kind} ${String(verdict[kind])}`);
  const { p99, count } = summarize(verdict.recoveries);
  return `VERDICT ${counts.join(' ')} recovery_p99 ${String(count > 0 ? Math.round(p99) : 0)}`;
}
