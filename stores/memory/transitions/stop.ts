import { isTerminal, type StopRequest } from '../../../protocol/run.js';
import type { StopResult } from '../../transitions.js';
import { finish } from '../finish.js';
import { fromJson, toJson } from '../json.js';
import type { MemorySession, StoreContext } from '../session.js';

/** Leaves a stop record; a run in which no model speaks ends at once. */
export function stop(
  session: MemorySession,
  { runId, ...request }: StopRequest & { runId?: string },
  context: StoreContext,
): StopResult {
  const { run } = session;
  if (run === undefined || isTerminal(run.status)) return { kind: 'nothing' };
  if (runId !== undefined && runId !== run.runId) return { kind: 'nothing' };
  if (run.stop === undefined || request.mode === 'abort') run.stop = toJson(request);
  if (session.busy.has('model')) return { kind: 'stopping', runId: run.runId };
  const who = {
    agentId: session.id,
    agentType: session.identity?.agent ?? '',
    step: run.committedStep,
    now: context.now,
  };
  const { mode, reason } = fromJson(run.stop);
  const status = mode === 'abort' ? 'aborted' : 'interrupted';
  finish(session, run, who, { status, reason, code: 'run_stopped' }, context);
  return { kind: 'ended', runId: run.runId };
}
