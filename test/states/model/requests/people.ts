import type { StopMode } from '../../../../protocol/run.js';
import { toAnswerInput, toExpiryInput } from '../../../../runs/record/settle-inputs.js';
import { toCallSpec, toSettle, toStored } from '../../../../store/redis/inputs.js';
import { userMessage } from '../../../support/session-driver.js';
import { timeAt, type Clock } from '../environment.js';
import { AGENT, callOf, OWNER, RUNS, SESSION, toNewCall } from '../plan.js';
import { request, type Request } from './request.js';

/** Requests by people, and by the timers and queues that act in their place. */

/** Treatment of a message that arrives while a run is active. */
export type Policy = 'reject' | 'queue' | 'steer' | 'interrupt';

export function post(message: string, nonce: string, policy: Policy, clock: Clock): Request {
  const key = `post ${message} ${nonce} ${policy} @${String(clock)}`;
  const of = { sessionId: SESSION, agent: AGENT, owner: OWNER, now: timeAt(clock) };
  return request(key, 'begin', SESSION, () =>
    toStored({ ...of, nonce, messages: [userMessage(message)], policy }),
  );
}

export function answer(id: string, approved: boolean, clock: Clock): Request {
  const name = approved ? 'approve' : 'deny';
  return settle(name, id, clock, ({ agent, call }) => {
    const given = { kind: 'approval-response', ...of(id), approved } as const;
    return toAnswerInput(given, agent, call, { now: timeAt(clock), permitted: true });
  });
}

/** Returns the result of a call that a page executed. */
export function result(id: string, clock: Clock): Request {
  return settle('result of', id, clock, ({ agent, call }) => {
    const given = { kind: 'client-tool-result', ...of(id), result: 'seen' } as const;
    return toAnswerInput(given, agent, call, { now: timeAt(clock), permitted: true });
  });
}

export function expire(id: string, clock: Clock): Request {
  return settle('expire', id, clock, ({ agent, call }) => {
    return toExpiryInput({ spec: call, state: 'waiting' }, agent, timeAt(clock));
  });
}

function of(toolCallId: string): { sessionId: string; toolCallId: string } {
  return { sessionId: SESSION, toolCallId };
}

interface Asked {
  agent: Parameters<typeof toAnswerInput>[1];
  call: ReturnType<typeof toCallSpec>;
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
