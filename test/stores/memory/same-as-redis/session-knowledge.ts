import type { SessionRecord } from '../../../../stores/contract/sessions.js';
import type { SessionEvent } from './session-event.js';
import type { MemoryStores } from '../../../../stores/memory/index.js';

export type Stores = Pick<MemoryStores, 'store' | 'streamManager'>;

/** Asks one store. */
export type Perform = (stores: Stores) => Promise<unknown>;

/** What those who drive a session know of it. */
export interface Knowledge {
  readonly sessionId: string;
  record: SessionRecord | undefined;
  /** Ids of the calls that steps opened, oldest first. */
  calls: { id: string }[];
  /** Batches that got through, by run, step and token. */
  batches: Map<string, number>;
  /** Counts events, for names that occur once. */
  n: number;
}

export function createKnowledge(sessionId: string): Knowledge {
  return { sessionId, record: undefined, calls: [], batches: new Map(), n: 0 };
}

export function stepOf({ record }: Knowledge): number {
  return (record?.committedStep ?? 0) + 1;
}

export function batchKey({ record }: Knowledge, step: number, token: number): string {
  return `${record?.runId ?? ''}/${String(step)}/${String(token)}`;
}

/** Takes note of what an event came to. */
export function learn(known: Knowledge, event: SessionEvent, result: unknown): void {
  const { kind } = (result ?? {}) as { kind?: string };
  if (event.do === 'say' && kind === 'appended') {
    const key = batchKey(known, stepOf(known), event.token);
    known.batches.set(key, (known.batches.get(key) ?? 0) + event.batch);
  }
  if (event.do === 'commit' && kind === 'committed') {
    for (const at of event.calls.keys())
      known.calls.push({ id: `x${String(known.n)}-${String(at)}` });
  }
  known.n += 1;
}
