import type { TerminalStatus } from '../../../../protocol/run.js';
import { toSettle, toStored } from '../../../../store/redis/inputs.js';
import { LOST, modelWriter, toCut } from './attempts.js';
import { timeAt, type Clock } from '../environment.js';
import { RUNS, toolOf, callOf, type RunName } from '../plan.js';
import { request, requestBy, type Request } from './request.js';

/** Requests that close runs, steps and calls from outside. */

export function takeOver(run: RunName, step: number): Request {
  const { sessionId, runId, name } = modelWriter({ run, step, token: 0 });
  return request(`take over ${run} ${String(step)}`, 'takeOver', sessionId, () => ({
    runId,
    name,
  }));
}

/** Commits the log's text of a step that was taken over. */
export function fold(
  run: RunName,
  step: number,
  token: number,
  status: 'interrupted' | 'failed',
  clock: Clock,
): Request {
  const key = `fold ${run} ${String(step)} ${String(token)} ${status} @${String(clock)}`;
  const attempt = { run, step, token };
  return requestBy(key, 'commit', RUNS[run].sessionId, ({ textOf, sequence }) =>
    toStored({
      ...toCut(attempt, textOf(modelWriter(attempt).name), status, clock),
      known: sequence,
    }),
  );
}

export function endRun(run: RunName, step: number, status: TerminalStatus, clock: Clock): Request {
  const { sessionId, runId, agent: agentType } = RUNS[run];
  const key = `end ${run} ${String(step)} ${status} @${String(clock)}`;
  return request(key, 'end', sessionId, () =>
    toStored({
      sessionId,
      runId,
      agentType,
      step,
      status,
      now: timeAt(clock),
      ...(status === 'failed' && { error: LOST }),
    }),
  );
}

export function settleChild(id: string, isDone: boolean, clock: Clock): Request {
  const { run, step, child } = callOf(id);
  const { sessionId, runId, agent: agentType } = RUNS[run];
  const { agent: subAgentType, sessionId: subSessionId } = RUNS[child ?? run];
  const which = { toolCallId: id, toolName: toolOf(id) };
  const base = { agentId: sessionId, agentType, step, timestamp: timeAt(clock) };
  const failure = isDone ? {} : { error: 'It was lost.', errorCode: 'subagent_failed' };
  const result = isDone ? 'helped' : null;
  const key = `settle ${id} ${isDone ? 'done' : 'lost'} @${String(clock)}`;
  return request(key, 'settleCall', sessionId, () =>
    toSettle({
      source: 'child',
      sessionId,
      agentType,
      runId,
      toolCallId: id,
      now: timeAt(clock),
      row: { role: 'tool', ...which, ...(isDone ? { output: result } : failure) },
      chunks: [
        { type: 'subagent_end', ...base, subAgentType, subSessionId, callId: id, result },
        { type: 'tool_end', ...base, ...which, result, ...failure, providerExecuted: true },
      ],
    }),
  );
}
