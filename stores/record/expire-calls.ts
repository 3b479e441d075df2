import { sessionOfRun } from '../../protocol/ids.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SettleCallResult } from '../contract/calls.js';
import type { Store } from '../contract/store.js';
import { toExpiryInput } from './settle-inputs.js';

type Stored = Extract<SettleCallResult, { kind: 'stored' }>;

/** What the deadlines of calls came to. */
export interface Expiry {
  /** Calls that were settled now, in order. */
  settled: { toolCallId: string; runId: string; result: Stored }[];
  /** ms until the next deadline, by the store's clock. */
  nextDueMs?: number;
  /** The shortest wait that has not begun, since nobody was asked yet, ms. */
  unaskedMs?: number;
}

/**
 * Settles calls that nobody has answered in time, as their tools say. Whether it is time is decided
 * by the store's clock.
 */
export async function expireCalls(
  store: Pick<Store, 'sessions' | 'calls'>,
  calls: readonly OpenCall[],
  now: number,
): Promise<Expiry> {
  const expiry: Expiry = { settled: [] };
  for (const { spec, state, deadline } of calls) {
    const { toolCallId, runId, deadlineMs } = spec;
    if (state !== 'waiting' || deadlineMs === undefined) continue;
    if (deadline === undefined) {
      expiry.unaskedMs = Math.min(expiry.unaskedMs ?? Infinity, deadlineMs);
      continue;
    }
    const record = await store.sessions.read(sessionOfRun(runId));
    if (record === undefined) continue;
    const result = await store.calls.settle(toExpiryInput(spec, record, now));
    if (result.kind === 'stored') expiry.settled.push({ toolCallId, runId, result });
    if (result.kind === 'not_due' && result.dueInMs !== undefined) {
      expiry.nextDueMs = Math.min(expiry.nextDueMs ?? Infinity, result.dueInMs);
    }
  }
  return expiry;
}
