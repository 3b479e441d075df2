import { redis } from './lib/host.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { int } from './lib/json.js';
import { only } from './lib/request.js';
import { isTerminal, num, readRoot, storeNow } from './lib/root.js';
import type { Session } from './lib/session.js';
import { ownerOf } from './lib/walk.js';

export interface LeaseCallRequest {
  runId: string;
  toolCallId: string;
  /** The page that wants to carry out the call. */
  holder: string;
  forMs: number;
}

/**
 * lease call: of several pages that could carry out a client tool, lets one do so for a while. The
 * lease is advisory: an answer is accepted from any page.
 *
 * Checks, in this order: the call is settled · it exists · its run is the newest and active · it is
 * a client tool's · it is waiting · another page holds the lease.
 *
 * @returns `leased` · `held` with the remaining time · `already_completed` · `not_pending` ·
 * `stale_run` · `kind_mismatch`
 */
export function leaseCall(
  requested: Session,
  { runId, toolCallId, holder, forMs }: LeaseCallRequest,
): string {
  const session = ownerOf(requested, toolCallId);
  const { state, kind, lease } = readCall(session, toolCallId, ['state', 'kind', 'lease']);
  if (state === 'settled' || wasTakenIn(session, toolCallId)) return only('already_completed');
  if (kind === undefined) return only('not_pending');
  const root = readRoot(session, ['run', 'status']);
  if (root.run !== runId || isTerminal(root.status)) return only('stale_run');
  if (kind !== 'client') return only('kind_mismatch');
  if (state !== 'waiting') return only('not_pending');
  const now = storeNow();
  if (lease !== undefined) {
    const space = lease.indexOf(' ');
    const left = num(lease.slice(0, space)) - now;
    if (left > 0 && lease.slice(space + 1) !== holder) {
      return `{"kind":"held","forMs":${int(left)}}`;
    }
  }
  redis.call('HSET', session.calls, `lease:${toolCallId}`, `${int(now + forMs)} ${holder}`);
  return only('leased');
}
