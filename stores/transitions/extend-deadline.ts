import { redis } from './lib/host.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { noteDeadline } from './lib/deadlines.js';
import { int } from './lib/json.js';
import { only } from './lib/request.js';
import { isTerminal, num, readRoot, storeNow } from './lib/root.js';
import type { Session } from './lib/session.js';
import { ownerOf } from './lib/walk.js';

export interface ExtendDeadlineRequest {
  runId: string;
  toolCallId: string;
  /** The deadline that was read: sent again, the request adds nothing. */
  deadline: number;
  byMs: number;
  /** How far ahead a deadline may lie, ms. */
  mostAheadMs: number;
  now: number;
}

const CALL = ['state', 'kind', 'late', 'lapsed', 'deadline'] as const;

/** extend deadline: gives people more time to answer a call. */
export function extendDeadline(given: Session, request: ExtendDeadlineRequest): string {
  const { toolCallId: id, runId } = request;
  const session = ownerOf(given, id);
  const call = readCall(session, id, CALL);
  if (call.late === '1' || call.lapsed !== undefined) return only('expired');
  if (call.state === 'settled' || wasTakenIn(session, id)) return only('already_completed');
  if (call.kind !== 'approval' && call.kind !== 'client') return only('not_pending');
  const root = readRoot(session, ['run', 'status']);
  if (root.run !== runId || isTerminal(root.status)) return only('stale_run');
  if (call.state !== 'waiting') return only('already_completed');
  if (call.deadline === undefined) return only('no_deadline');
  const now = storeNow();
  if (now >= num(call.deadline)) return only('expired');
  const deadline = Math.max(num(call.deadline), request.deadline + request.byMs);
  if (deadline > now + request.mostAheadMs) return only('too_far');
  redis.call('HSET', session.calls, `deadline:${id}`, deadline);
  redis.call('HSET', session.root, 'updated', request.now);
  redis.call('HSET', session.conversation.root, 'updated', request.now);
  noteDeadline(session);
  return `{"kind":"extended","deadline":${int(deadline)},"dueInMs":${int(deadline - now)}}`;
}
