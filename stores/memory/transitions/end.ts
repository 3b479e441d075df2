import { isTerminal } from '../../../protocol/run.js';
import type { EndInput, EndResult } from '../../contract/runs.js';
import { finish, type Ending } from '../finish.js';
import { fromJson } from '../json.js';
import { nextOf } from '../queue.js';
import { pushReply } from '../reply.js';
import type { MemoryRun, MemorySession, StoreContext } from '../session.js';

/** Ends a run, also over the head of a writer that does not answer: it is fenced off. */
export function end(session: MemorySession, input: EndInput, context: StoreContext): EndResult {
  const { run, log } = session;
  if (run?.runId !== input.runId) return { kind: 'superseded' };
  if (isTerminal(run.status)) return { kind: 'ended', status: run.status, ...nextOf(session) };
  const { agentType, step, now } = input;
  const ending = endingOf(run, input);
  log.sequence = Math.max(log.sequence, input.floor ?? 0);
  if (input.row !== undefined) pushReply(session, run, input.row);
  finish(session, run, { agentId: session.id, agentType, step, now }, ending, context);
  return { kind: 'ended', status: ending.status, ...nextOf(session) };
}

/** A stop record decides how a run ends, unless it failed. */
function endingOf({ stop }: MemoryRun, { status, error }: EndInput): Ending {
  if (status === 'failed') return { status, error, code: 'run_failed' };
  if (stop === undefined) return { status, code: 'run_stopped' };
  const { mode, reason } = fromJson(stop);
  return { status: mode === 'abort' ? 'aborted' : 'interrupted', reason, code: 'run_stopped' };
}
