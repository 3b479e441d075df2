import { isTerminal } from '../../../protocol/run.js';
import type { LeaseCallInput, LeaseCallResult } from '../../contract/calls.js';
import type { MemorySession, StoreContext } from '../session.js';
import { ownerOf } from '../tree.js';

/** Of several pages that could carry out a client tool, lets one do it for a while. */
export function leaseCall(
  given: MemorySession,
  { runId, toolCallId, holder, forMs }: LeaseCallInput,
  { now }: StoreContext,
): LeaseCallResult {
  const session = ownerOf(given, toolCallId);
  const { run, calls, settled } = session;
  const call = calls.get(toolCallId);
  if (call?.state === 'settled' || settled.has(toolCallId)) return { kind: 'already_completed' };
  if (call === undefined) return { kind: 'not_pending' };
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'stale_run' };
  if (call.kind !== 'client') return { kind: 'kind_mismatch' };
  if (call.state !== 'waiting') return { kind: 'not_pending' };
  const { lease } = call;
  if (lease !== undefined && lease.holder !== holder && lease.until > now) {
    return { kind: 'held', forMs: lease.until - now };
  }
  call.lease = { holder, until: now + forMs };
  return { kind: 'leased' };
}
