import type { StreamChunk } from '../../../../protocol/chunk.js';
import { LIMITS } from '../../../../protocol/limits.js';
import { formatCheckpointId, formatModelWriter } from '../../../../protocol/ids.js';
import type { AssistantRow } from '../../../../protocol/rows.js';
import type { StepOutcome } from '../../../../protocol/run.js';
import type { Writer } from '../../../../store/contract/log.js';
import type { CommitInput } from '../../../../store/contract/steps.js';
import { toCheckedJson } from '../../../../store/record/stored-json.js';
import { closingChunks } from '../../../../runs/record/closed-call.js';
import { toSettle, toStored } from '../../../../store/redis/inputs.js';
import { timeAt, type Clock } from '../environment.js';
import { callOf, RUNS, SESSION, toNewCall, toolOf, type FoundCall, type RunName } from '../plan.js';
import { appendRequest, request, type Request } from './request.js';

/** Requests of activity attempts. */

export interface Attempt {
  run: RunName;
  step: number;
  /** Grows with each attempt; a takeover's token lies between two attempts'. */
  token: number;
  /** Number of the reply, if the attempt began it again after the provider failed. */
  batch?: number;
}

export function modelWriter({ run, step, token }: Attempt): Writer {
  const { sessionId, runId, agent: agentType } = RUNS[run];
  return { sessionId, runId, name: formatModelWriter(sessionId, step), token, agentType, step };
}

function callWriter(attempt: Attempt, id: string): Writer {
  return { ...modelWriter(attempt), name: `t:${id}` };
}

function nameOf(what: string, { run, step, token, batch }: Attempt, clock: Clock): string {
  const of = `${what} ${run} ${String(step)} ${String(token)}`;
  return batch === undefined
    ? `${of} @${String(clock)}`
    : `${of}/${String(batch)} @${String(clock)}`;
}

export function beginChild(run: RunName, clock: Clock): Request {
  const { sessionId, runId, agent } = RUNS[run];
  return request(`begin child ${run} @${String(clock)}`, 'beginChild', sessionId, () =>
    toStored({
      child: { sessionId, runId, agent },
      parent: { sessionId: SESSION, runId: RUNS.one.runId, toolCallId: 'd' },
      now: timeAt(clock),
    }),
  );
}

export function claim(attempt: Attempt, clock: Clock): Request {
  const writer = modelWriter(attempt);
  return request(nameOf('claim', attempt, clock), 'claim', writer.sessionId, () =>
    toStored({ writer, known: 0, now: timeAt(clock) }),
  );
}

/** Returns a text that no other attempt has. */
export function textOf({ run, step, token, batch = 1 }: Attempt): string {
  return `${run}.${String(step)}.${String(token)}.${String(batch)} `;
}

export function appendText(attempt: Attempt, clock: Clock): Request {
  const { run, step, batch = 1 } = attempt;
  const writer = modelWriter(attempt);
  return appendRequest(nameOf('append', attempt, clock), writer.sessionId, () =>
    toArgs(writer, batch, clock, '', {
      type: 'text_delta',
      agentId: RUNS[run].sessionId,
      agentType: RUNS[run].agent,
      step,
      timestamp: timeAt(clock),
      delta: textOf(attempt),
    }),
  );
}

export function appendEvent(attempt: Attempt, id: string, clock: Clock): Request {
  const { run, step, token } = attempt;
  const writer = callWriter(attempt, id);
  return appendRequest(nameOf(`append ${id}`, attempt, clock), writer.sessionId, () =>
    toArgs(writer, 1, clock, 'c0', {
      type: 'custom',
      agentId: RUNS[run].sessionId,
      agentType: RUNS[run].agent,
      step,
      timestamp: timeAt(clock),
      eventName: 'progress',
      data: token,
    }),
  );
}

/** Returns the arguments in the script's order. */
function toArgs(
  { runId, name, token }: Writer,
  batch: number,
  clock: Clock,
  notes: string,
  chunk: StreamChunk,
): string[] {
  const fixed = [runId, name, String(token), String(batch), String(timeAt(clock)), '0', notes];
  return [...fixed, ...toCheckedJson([chunk])];
}

/** Withdraws the attempt's text after the provider failed. */
export function discard(attempt: Attempt, failure: number, clock: Clock): Request {
  const writer = modelWriter(attempt);
  const key = nameOf(`discard ${String(failure)}`, attempt, clock);
  return request(key, 'discard', writer.sessionId, () => ({
    writer,
    reason: 'provider_failed',
    failure,
    now: timeAt(clock),
  }));
}

/** Returns the outcome of a step whose model finished its reply. */
export function outcomeOf(run: RunName, step: number): StepOutcome {
  const calls = RUNS[run].steps[step - 1] ?? [];
  if (calls.length === 0) return { kind: 'ended', step, status: 'completed' };
  const refs = calls.map(({ id, kind }) => ({ toolCallId: id, toolName: toolOf(id), kind }));
  return { kind: 'calls', step, calls: refs };
}

export function commit(attempt: Attempt, clock: Clock): Request {
  const { run, step } = attempt;
  const calls = (RUNS[run].steps[step - 1] ?? []).map(({ id }) => callOf(id));
  return request(nameOf('commit', attempt, clock), 'commit', RUNS[run].sessionId, () =>
    toStored({
      ...commitOf(attempt, textOf(attempt), calls, clock),
      outcome: outcomeOf(run, step),
      answersStop: false,
      ...(calls.length === 0 && { final: { status: 'completed' as const } }),
    }),
  );
}

/** Commits the text that the attempt had when it noticed the stop. */
export function commitCut(attempt: Attempt, hasSaid: boolean, clock: Clock): Request {
  const key = nameOf(hasSaid ? 'commit cut' : 'commit nothing', attempt, clock);
  return request(key, 'commit', RUNS[attempt.run].sessionId, () =>
    toStored(toCut(attempt, hasSaid ? textOf(attempt) : '', 'interrupted', clock)),
  );
}

/** Returns the end of a step that was cut, with its text so far. */
export function toCut(
  attempt: Attempt,
  reply: string,
  status: 'interrupted' | 'failed',
  clock: Clock,
): CommitInput {
  const failure = status === 'failed' ? { error: LOST } : {};
  return {
    ...commitOf(attempt, reply, [], clock),
    outcome: { kind: 'ended', step: attempt.step, status, ...failure },
    answersStop: true,
    final: { status, ...failure },
  };
}

export const LOST = { code: 'framework_run_lost', message: 'It was lost.', retryable: true };

function commitOf(
  attempt: Attempt,
  reply: string,
  calls: readonly FoundCall[],
  clock: Clock,
): Omit<CommitInput, 'outcome' | 'answersStop' | 'final'> {
  const { run, step } = attempt;
  const { sessionId: agentId, runId, agent: agentType } = RUNS[run];
  const now = timeAt(clock);
  const checkpointId = formatCheckpointId(runId, step);
  const row: AssistantRow = {
    role: 'assistant',
    messageId: 'msg-1',
    runId,
    step,
    parts: [
      { type: 'text', text: reply },
      ...calls.map(({ id, kind }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: toolOf(id),
        kind,
        input: { of: id },
      })),
    ],
  };
  const hasRow = reply !== '';
  return {
    writer: modelWriter(attempt),
    known: 0,
    ...(hasRow && { row }),
    calls: calls.map(toNewCall),
    chunks: closingChunks({ agentId, agentType, step, runId }, checkpointId, now, {
      hasRow,
    }),
    checkpointId,
    now,
  };
}

export function startCall(attempt: Attempt, id: string, clock: Clock): Request {
  const writer = callWriter(attempt, id);
  return request(nameOf(`start ${id}`, attempt, clock), 'startCall', writer.sessionId, () => ({
    writer,
    toolCallId: id,
    now: timeAt(clock),
    budget: LIMITS.attempts,
  }));
}

export function settleTool(attempt: Attempt, id: string, clock: Clock): Request {
  const writer = callWriter(attempt, id);
  const { agentType, sessionId: agentId, step } = writer;
  const which = { toolCallId: id, toolName: toolOf(id) };
  const base = { agentId, agentType, step, timestamp: timeAt(clock) };
  return request(nameOf(`settle ${id}`, attempt, clock), 'settleCall', agentId, () =>
    toSettle({
      source: 'tool',
      writer,
      toolCallId: id,
      row: { role: 'tool', ...which, output: attempt.token },
      hasEvents: callOf(id).hasEvents === true,
      chunks: [{ type: 'tool_end', ...base, ...which, result: attempt.token }],
      now: timeAt(clock),
    }),
  );
}
