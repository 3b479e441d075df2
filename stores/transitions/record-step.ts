import { redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { int } from './lib/json.js';
import { addOperation, FAILED, seal } from './lib/journal.js';
import { contentAt, only, type Content, type WriterRequest } from './lib/request.js';
import { isTerminal, num, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface RecordStepRequest {
  writer: WriterRequest;
  toolCallId: string;
  /** Place in the journal of the call, from 0. */
  at: number;
  now: number;
  /** The step with its result; absent when it begins or has failed. */
  operation?: Content;
  /** The step threw. */
  failed?: boolean;
  /** Changes of the agent's own state since the operation before it. */
  changes?: Content;
  /** How many operations, and how many bytes, a journal holds. */
  most: { operations: number; bytes: number };
}

/**
 * record step: notes that a step of a tool begins, its result, or that it threw, after which the
 * tool is in the middle of nothing. What the tool emitted before a result is kept with it.
 *
 * Checks, in this order: the result is recorded · the run is the newest and active · stop record ·
 * fence · size of the journal.
 *
 * @returns `recorded` · `superseded` · `stopped` · `fenced` · `full`
 */
export function recordStep(
  session: Session,
  request: RecordStepRequest,
  args: readonly string[],
): string {
  const { writer, toolCallId: id, at, now, operation, failed, changes, most } = request;
  const root = readRoot(session, ['run', 'status', 'stop', 'seq']);
  const { state, opBytes } = readCall(session, id, ['state', 'opBytes']);
  const owner = readOwner(session, writer.name);
  const before = redis.call('HGET', session.calls, `op${int(at)}:${id}`);
  const hasResult = before !== false && before !== '' && before !== FAILED;
  if (owner.token === writer.token && hasResult) return only('recorded');
  if (state === 'settled' || wasTakenIn(session, id)) return only('superseded');
  if (root.run !== writer.runId || isTerminal(root.status)) return only('superseded');
  if (root.stop !== undefined) return only('stopped');
  if (owner.token !== writer.token || state !== 'started') return only('fenced');
  if (at >= most.operations || num(opBytes) > most.bytes) return only('full');
  const result = failed === true ? FAILED : contentAt(args, operation);
  addOperation(session, id, at, result);
  if (operation !== undefined) seal(session, writer, id, at, changes, args);
  setFields(session, ['updated', int(now)]);
  return only('recorded');
}
