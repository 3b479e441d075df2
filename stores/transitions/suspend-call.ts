import { redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { noteDeadline } from './lib/deadlines.js';
import { int } from './lib/json.js';
import { addOperation, seal } from './lib/journal.js';
import { closeLog, openLog } from './lib/log.js';
import { openCalls, type NewCallRequest } from './lib/open-calls.js';
import { restIfWaiting } from './lib/pause.js';
import { contentAt, only, type Content, type WriterRequest } from './lib/request.js';
import { isTerminal, num, readRoot, seqOf, setFields, storeNow } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface SuspendCallRequest {
  writer: WriterRequest;
  toolCallId: string;
  /** Place in the journal of the call, from 0. */
  at: number;
  now: number;
  /** What the tool waits for, without its result. */
  operation: Content;
  /** The call whose result is waited for. */
  wait: NewCallRequest;
  /** When a wait that asks no person ends, ms from now. */
  dueInMs?: number;
  /** Changes of the agent's own state since the operation before it. */
  changes?: Content;
  /** How many operations, and how many bytes, a journal holds. */
  most: { operations: number; bytes: number };
}

/**
 * suspend call: the tool of a call waits, and gives up its process. What it waits for becomes a call
 * of the same step; once that is settled, the call is released like an approved one, and its tool is
 * executed again with what it has recorded.
 *
 * Checks, in this order: the call is suspended there · it is settled · the run is the newest and
 * active · stop record · fence · size of the journal.
 *
 * @returns `suspended` · `superseded` · `stopped` · `fenced` · `full`
 */
export function suspendCall(
  session: Session,
  request: SuspendCallRequest,
  args: readonly string[],
): string {
  const { writer, toolCallId: id, at, now, wait, dueInMs, most } = request;
  const root = readRoot(session, ['run', 'status', 'stop', 'seq', 'stream']);
  const { state, opBytes } = readCall(session, id, ['state', 'opBytes']);
  if (redis.call('HGET', session.calls, `op${int(at)}Call:${id}`) === wait.id) {
    return only('suspended');
  }
  if (state === 'settled' || wasTakenIn(session, id)) return only('superseded');
  if (root.run !== writer.runId || isTerminal(root.status)) return only('superseded');
  if (root.stop !== undefined) return only('stopped');
  if (readOwner(session, writer.name).token !== writer.token || state !== 'started') {
    return only('fenced');
  }
  if (at >= most.operations || num(opBytes) > most.bytes) return only('full');
  const log = openLog(session, seqOf(session));
  addOperation(session, id, at, contentAt(args, request.operation));
  seal(session, writer, id, at, request.changes, args);
  openCalls(session, [wait], args);
  const fields = [`of:${wait.id}`, id, `op${int(at)}Call:${id}`, wait.id];
  fields.push(`state:${id}`, 'suspended');
  if (dueInMs !== undefined) fields.push(`deadline:${wait.id}`, int(storeNow() + dueInMs));
  redis.call('HSET', session.calls, ...fields);
  // The execution that ends here and the one that continues it are one.
  redis.call('HINCRBY', session.calls, `n:${id}`, '-1');
  redis.call('SREM', session.busy, id);
  setFields(session, ['updated', int(now)]);
  if (!restIfWaiting(session, log, now)) noteDeadline(session);
  closeLog(log);
  return only('suspended');
}
