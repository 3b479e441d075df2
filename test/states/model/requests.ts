import type { StreamChunk } from '../../../protocol/chunk.js';
import { formatCheckpointId, formatModelWriter } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { AssistantRow } from '../../../protocol/rows.js';
import type { StepOutcome, StopMode, TerminalStatus } from '../../../protocol/run.js';
import { closingChunks } from '../../../runs/record/step-chunks.js';
import { toAnswerInput, toExpiryInput } from '../../../runs/record/settle-inputs.js';
import type { Writer } from '../../../store/contract/log.js';
import type { CommitInput } from '../../../store/contract/steps.js';
import { toCheckedText } from '../../../store/record/stored-json.js';
import { toCallSpec, toSettle, toStored } from '../../../store/redis/inputs.js';
import { userMessage } from '../../support/session-driver.js';
import { timeAt, type Clock } from './environment.js';
import {
  AGENT,
  callOf,
  OWNER,
  RUNS,
  SESSION,
  toNewCall,
  toolOf,
  type FoundCall,
  type RunName,
} from './plan.js';
import type { Facts } from './record/facts.js';
import type { ChangeName, InputOf, Sent } from './record/play.js';

export interface Request {
  /** Requests with the same key have the same effect on the same record. */
  key: string;
  toSent: (facts: Facts) => Sent;
}

/** Creates a request that depends on the record only by the known sequence. */
function request<Name extends ChangeName>(
  key: string,
  what: Name,
  sessionId: string,
  build: () => InputOf<Name>,
): Request {
  const toInput = once(key, () => frozen(build()));
  return {
    key,
    toSent: ({ sequence: known }) => {
      const input: object = toInput();
      return { what, sessionId, input: 'known' in input ? { ...input, known } : input };
    },
  };
}

/** Creates a request that depends on what its sender has read of the record. */
function requestBy<Name extends ChangeName>(
  key: string,
  what: Name,
  sessionId: string,
  build: (facts: Facts) => InputOf<Name>,
): Request {
  return { key, toSent: (facts) => ({ what, sessionId, input: frozen(build(facts)) }) };
}

/** Caches built requests, since all states send the same few. */
const built = new Map<string, unknown>();

function once<Built>(key: string, build: () => Built): () => Built {
  return () => {
    if (!built.has(key)) built.set(key, build());
    return built.get(key) as Built;
  };
}

/** Freezes an input, so that a change that modifies it throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

interface Attempt {
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
function wordOf({ run, step, token, batch = 1 }: Attempt): string {
  return `${run}.${String(step)}.${String(token)}.${String(batch)} `;
}

export function appendText(attempt: Attempt, clock: Clock): Request {
  const text = { type: 'text_delta', delta: wordOf(attempt) };
  const order = { batch: attempt.batch ?? 1, notes: '' };
  return append(nameOf('append', attempt, clock), modelWriter(attempt), clock, order, text);
}

export function appendEvent(attempt: Attempt, id: string, clock: Clock): Request {
  const event = { type: 'custom', eventName: 'progress', data: attempt.token };
  const key = nameOf(`append ${id}`, attempt, clock);
  return append(key, callWriter(attempt, id), clock, { batch: 1, notes: 'c0' }, event);
}

/** Creates an append. @param own fields of the chunk beside the base fields */
function append(
  key: string,
  { runId, name, token, sessionId: agentId, agentType, step }: Writer,
  clock: Clock,
  { batch, notes }: { batch: number; notes: string },
  own: object,
): Request {
  const timestamp = timeAt(clock);
  const chunk = { agentId, agentType, step, timestamp, ...own } as StreamChunk;
  const text = once(key, () => toCheckedText(chunk));
  return {
    key,
    toSent: ({ sequence: known }) => {
      const counts = [token, batch, timestamp, known].map(String);
      return { what: 'append', sessionId: agentId, args: [runId, name, ...counts, notes, text()] };
    },
  };
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
function outcomeOf(run: RunName, step: number): StepOutcome {
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
      ...commitOf(attempt, wordOf(attempt), calls, clock),
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
    toStored(toCut(attempt, hasSaid ? wordOf(attempt) : '', 'interrupted', clock)),
  );
}

/** Returns the end of a step that was cut, with its text so far. */
function toCut(
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

const LOST = { code: 'framework_run_lost', message: 'It was lost.', retryable: true };

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
    chunks: closingChunks({ agentId, agentType, step, runId }, now, {
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

/** Treatment of a message that arrives while a run is active. `withdraw`: queued, and that run asks nobody. */
export type Policy = 'reject' | 'queue' | 'withdraw' | 'steer' | 'interrupt';

export function post(message: string, nonce: string, policy: Policy, clock: Clock): Request {
  const key = `post ${message} ${nonce} ${policy} @${String(clock)}`;
  const of = { sessionId: SESSION, agent: AGENT, owner: OWNER, now: timeAt(clock) };
  return requestBy(key, 'begin', SESSION, ({ record }) => {
    const given =
      policy === 'withdraw' ? { policy: 'queue' as const, withdraws: record?.runId } : { policy };
    return toStored({ ...of, nonce, messages: [userMessage(message)], ...given });
  });
}

export function answer(id: string, approved: boolean, clock: Clock): Request {
  const name = approved ? 'approve' : 'deny';
  return settle(name, id, clock, ({ agent, call, of }) => {
    const given = { kind: 'approval-response', ...of, approved } as const;
    return toAnswerInput(given, agent, call, { now: timeAt(clock), permitted: true });
  });
}

/** Returns the result of a call that a page executed. */
export function result(id: string, clock: Clock): Request {
  return settle('result of', id, clock, ({ agent, call, of }) => {
    const given = { kind: 'client-tool-result', ...of, result: 'seen' } as const;
    return toAnswerInput(given, agent, call, { now: timeAt(clock), permitted: true });
  });
}

export function expire(id: string, clock: Clock): Request {
  return settle('expire', id, clock, ({ agent, call }) => {
    return toExpiryInput({ spec: call, state: 'waiting' }, agent, timeAt(clock));
  });
}

interface Asked {
  agent: Parameters<typeof toAnswerInput>[1];
  call: ReturnType<typeof toCallSpec>;
  of: { sessionId: string; toolCallId: string };
}

function settle(
  name: string,
  id: string,
  clock: Clock,
  toInput: (asked: Asked) => Parameters<typeof toSettle>[0],
): Request {
  const found = callOf(id);
  const { sessionId, runId, agent } = RUNS[found.run];
  return request(`${name} ${id} @${String(clock)}`, 'settleCall', sessionId, () => {
    const input = toInput({
      agent: { sessionId, agent, committedStep: found.step },
      call: toCallSpec({ runId, step: found.step }, toNewCall(found)),
      of: { sessionId: SESSION, toolCallId: id },
    });
    return toSettle(input);
  });
}

export function stop(mode: StopMode, clock: Clock): Request {
  return request(`${mode} @${String(clock)}`, 'stop', SESSION, () => ({
    stop: { mode },
    now: timeAt(clock),
  }));
}

/** Resumes a run that was interrupted or failed with a retryable error. */
export function resume(nonce: string, clock: Clock): Request {
  return request(`resume ${nonce} @${String(clock)}`, 'resumeRun', SESSION, () => ({
    nonce,
    now: timeAt(clock),
    mode: 'continue',
  }));
}

export function beginQueued(nonce: string, clock: Clock): Request {
  return request(`begin queued ${nonce} @${String(clock)}`, 'beginQueued', SESSION, () => ({
    nonce,
    now: timeAt(clock),
  }));
}
