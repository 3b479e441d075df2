import { LIMITS } from '../../../protocol/limits.js';
import { isTerminal } from '../../../protocol/run.js';
import type { ExtendDeadlineInput, ExtendDeadlineResult } from '../../contract/calls.js';
import type { MemorySession, StoreContext } from '../session.js';
import { ownerOf } from '../tree.js';

/** Gives people more time to answer a call. */
export function extendDeadline(
  given: MemorySession,
  { runId, toolCallId, byMs, now }: ExtendDeadlineInput,
  { now: storeNow }: StoreContext,
): ExtendDeadlineResult {
  const session = ownerOf(given, toolCallId);
  const { run, calls, lapsed, settled } = session;
  const call = calls.get(toolCallId);
  if (call?.hasTimedOut === true || lapsed.has(toolCallId)) return { kind: 'expired' };
  if (call?.state === 'settled' || settled.has(toolCallId)) return { kind: 'already_completed' };
  if (call?.kind !== 'approval' && call?.kind !== 'client') return { kind: 'not_pending' };
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'stale_run' };
  if (call.state !== 'waiting') return { kind: 'already_completed' };
  if (call.deadline === undefined) return { kind: 'no_deadline' };
  if (storeNow >= call.deadline) return { kind: 'expired' };
  const deadline = call.deadline + byMs;
  if (deadline > storeNow + LIMITS.deadlineAheadMs) return { kind: 'too_far' };
  call.deadline = deadline;
  session.updatedAt = now;
  session.root.updatedAt = now;
  return { kind: 'extended', deadline, dueInMs: deadline - storeNow };
}
