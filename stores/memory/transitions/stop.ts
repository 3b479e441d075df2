import { isTerminal, type StopRequest } from '../../../protocol/run.js';
import type { StopResult } from '../../contract/runs.js';
import { finishStopped } from '../finish.js';
import { toJson } from '../json.js';
import { nextOf } from '../queue.js';
import type { MemoryRun, MemorySession, StoreContext } from '../session.js';
import { isConversation } from '../tree.js';

/**
 * Leaves a stop record; a run whose own model does not speak ends at once. Given to a sub-agent it
 * stops the conversation.
 */
export function stop(
  asked: MemorySession,
  { runId: wanted, ...request }: StopRequest & { runId?: string },
  context: StoreContext,
): StopResult {
  const session = asked.root;
  if (!isConversation(asked) && !isRun(asked, wanted)) return { kind: 'nothing' };
  const runId = isConversation(asked) ? wanted : undefined;
  const { run } = session;
  if (run === undefined || isTerminal(run.status)) return { kind: 'nothing' };
  if (runId !== undefined && runId !== run.runId) return { kind: 'nothing' };
  if (requestStop(session, run, request)) return { kind: 'stopping', runId: run.runId };
  const who = {
    agentId: session.id,
    agentType: session.identity?.agent ?? '',
    step: run.committedStep,
    now: context.now,
  };
  finishStopped(session, run, who, context);
  return { kind: 'ended', runId: run.runId, ...nextOf(session) };
}

/** Leaves a stop record; true if a model speaks, which then ends the run. */
export function requestStop(session: MemorySession, run: MemoryRun, request: StopRequest): boolean {
  if (run.stop === undefined || request.mode === 'abort') run.stop = toJson(request);
  return session.busy.has('model');
}

function isRun({ run }: MemorySession, wanted: string | undefined): boolean {
  if (run === undefined || isTerminal(run.status)) return false;
  return wanted === undefined || wanted === run.runId;
}
