import { rootOf, sessionOfRun } from '../../protocol/ids.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SettleCallResult } from '../contract/calls.js';
import type { Store } from '../contract/store.js';
import { toExpiryInput } from './settle-inputs.js';

type Stored = Extract<SettleCallResult, { kind: 'stored' }>;

/** The sweeper looks at a session whose calls expire after this long. */
const CHECK_MS = 3_000;

/** The outcome of expiring calls. */
export interface Expiry {
  /** Calls that were settled now, in order. */
  settled: { toolCallId: string; runId: string; result: Stored }[];
  /** ms until the next deadline, by the store's clock. */
  nextDueMs?: number;
  /** The shortest wait that has not begun, since its question is not asked yet, ms. */
  unaskedMs?: number;
}

/**
 * Settles calls that were not answered in time, as their tools define. The store's clock decides
 * whether a deadline has passed.
 */
export async function expireCalls(
  store: Pick<Store, 'sessions' | 'calls' | 'due'>,
  calls: readonly OpenCall[],
  now: number,
): Promise<Expiry> {
  const expiry: Expiry = { settled: [] };
  for (const call of calls) {
    const { spec, state, deadline } = call;
    const { toolCallId, runId, deadlineMs } = spec;
    if (state !== 'suspended' && (state !== 'waiting' || deadlineMs === undefined)) continue;
    if (deadline === undefined) {
      expiry.unaskedMs = Math.min(expiry.unaskedMs ?? Infinity, deadlineMs ?? Infinity);
      continue;
    }
    const record = await store.sessions.read(sessionOfRun(runId));
    if (record === undefined) continue;
    // This process may die before the run resumes and the act is in the audit trail.
    if (deadline <= now) await store.due.note(rootOf(record.sessionId), CHECK_MS);
    const result = await store.calls.settle(toExpiryInput(call, record, now));
    if (result.kind === 'stored') expiry.settled.push({ toolCallId, runId, result });
    if (result.kind === 'not_due' && result.dueInMs !== undefined) {
      expiry.nextDueMs = Math.min(expiry.nextDueMs ?? Infinity, result.dueInMs);
    }
  }
  return expiry;
}
