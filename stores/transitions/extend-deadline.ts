import { redis } from './lib/host.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { noteDeadline } from './lib/deadlines.js';
import { int } from './lib/json.js';
import { noteAct } from './lib/outbox.js';
import { only, type Content } from './lib/request.js';
import { isTerminal, num, readRoot, setFields, storeNow } from './lib/root.js';
import type { Session } from './lib/session.js';
import { ownerOf } from './lib/walk.js';

export interface ExtendDeadlineRequest {
  runId: string;
  toolCallId: string;
  /**
   * The deadline that the requester has seen, so that a repeated request does not add the time
   * twice.
   */
  deadline: number;
  byMs: number;
  /** Maximum distance of a deadline from now, ms. */
  mostAheadMs: number;
  now: number;
  /** The entry of the audit trail. */
  act?: Content;
}

const CALL = ['state', 'kind', 'late', 'lapsed', 'deadline'] as const;

/**
 * extend deadline: gives people more time to answer a call.
 *
 * Checks, in this order: the call has timed out · it is settled · people answer calls of this kind
 * · its run is the newest and active · the call is waiting · it has a deadline, which has not
 * passed by Redis' clock · the new deadline is not too far ahead.
 *
 * @returns `extended` with the deadline · `expired` · `already_completed` · `not_pending` ·
 * `stale_run` · `no_deadline` · `too_far`
 */
export function extendDeadline(
  requested: Session,
  request: ExtendDeadlineRequest,
  args: readonly string[],
): string {
  const { toolCallId: id, runId } = request;
  const session = ownerOf(requested, id);
  const call = readCall(session, id, CALL);
  if (call.late === '1' || call.lapsed !== undefined) return only('expired');
  if (call.state === 'settled' || wasTakenIn(session, id)) return only('already_completed');
  if (call.kind !== 'approval' && call.kind !== 'client') return only('not_pending');
  const root = readRoot(session, ['run', 'status', 'tenant']);
  if (root.run !== runId || isTerminal(root.status)) return only('stale_run');
  if (call.state !== 'waiting') return only('already_completed');
  if (call.deadline === undefined) return only('no_deadline');
  const now = storeNow();
  if (now >= num(call.deadline)) return only('expired');
  const deadline = Math.max(num(call.deadline), request.deadline + request.byMs);
  if (deadline > now + request.mostAheadMs) return only('too_far');
  redis.call('HSET', session.calls, `deadline:${id}`, int(deadline));
  const updated = ['updated', int(request.now)];
  setFields(session, updated);
  setFields(session.conversation, updated);
  noteDeadline(session);
  noteAct(session, args, request.act, 'extended', { tenant: root.tenant });
  return `{"kind":"extended","deadline":${int(deadline)},"dueInMs":${int(deadline - now)}}`;
}
