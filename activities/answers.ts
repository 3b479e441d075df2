import { createAnswerCheck } from '../agents/check-answer.js';
import { parseToolAnswer, toAnswerError } from '../protocol/answers.js';
import type {
  AnswerActivities,
  AnswerOutcome,
  AnswerRef,
  OperatorAnswer,
} from '../protocol/activities.js';
import { HelixError } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import { expireCalls } from '../stores/record/expire-calls.js';
import { submitAnswer } from '../stores/record/submit-answer.js';
import type { ActivityDeps } from './deps.js';
import { wakeOthers } from './wake-others.js';

/** What people say to a run in Temporal, and what becomes of calls that they say nothing about. */
export function createAnswers(deps: ActivityDeps): AnswerActivities {
  const { store, agents, logger } = deps;
  const check = createAnswerCheck(agents);

  async function answerCall({ sessionId, answer }: AnswerRef): Promise<AnswerOutcome> {
    const given = parseToolAnswer(toToolAnswer(sessionId, answer));
    const { result, runId } = await submitAnswer({ store, check }, given, Date.now(), { via: 'temporal' });
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    const { resume, sequence } = result;
    const { toolCallId, by } = given;
    logger.info({ runId, toolCallId, by, via: 'temporal' }, 'a call was answered');
    await wakeOthers(deps, result.others);
    return { kind: 'stored', runId, sequence, ...(resume !== undefined && { resume }) };
  }

  return {
    expireCalls: async ({ sessionId, runId, step }) => {
      const view = await store.sessions.view(sessionId);
      if (view?.record.runId !== runId) return {};
      const own = view.openCalls.filter(({ spec }) => spec.runId === runId);
      const { settled, nextDueMs, unaskedMs } = await expireCalls(store, own, Date.now());
      for (const { result } of settled) await wakeOthers(deps, result.others);
      // An attempt before this one may have settled the last call, and died with the reply.
      const record = settled.length === 0 ? view.record : await store.sessions.read(sessionId);
      const resume = record?.runId === runId ? record.resume : undefined;
      const wait = nextDueMs ?? unaskedMs;
      return {
        ...(resume?.step === step && { resume }),
        ...(record !== undefined && { sequence: record.sequence }),
        ...(wait !== undefined && { nextDueMs: wait }),
        ...(nextDueMs === undefined && unaskedMs !== undefined && { isUnasked: true }),
      };
    },
    answerCall: (ref) => orRefused(() => answerCall(ref)),
    extendDeadline: ({ sessionId, toolCallId, byMs, by }) =>
      orRefused(async () => {
        const call = await store.calls.read(sessionId, toolCallId);
        const runId = call?.spec.runId ?? `${sessionId}:0-none`;
        const asker = sessionOfRun(runId);
        const known = call?.deadline ?? 0;
        const given = { toolCallId, byMs, deadline: known, now: Date.now() };
        const input = { sessionId: asker, runId, ...given };
        const result = await store.calls.extendDeadline(input);
        if (result.kind !== 'extended') throw toAnswerError(result.kind);
        const { deadline, dueInMs } = result;
        logger.info({ runId, toolCallId, byMs, by }, 'a deadline was put off');
        return { kind: 'extended', deadline, nextDueMs: dueInMs };
      }),
  };
}

/** Takes the fields of an answer by name and ignores all others. */
function toToolAnswer(sessionId: string, answer: OperatorAnswer): Record<string, unknown> {
  const { toolCallId, by } = answer;
  const base = { sessionId, toolCallId, by };
  if ('approved' in answer) {
    const { approved, reason, input } = answer;
    return { ...base, kind: 'approval-response', approved, reason, input };
  }
  const said = 'error' in answer ? { error: answer.error } : { result: answer.result };
  return { ...base, kind: 'client-tool-result', ...said };
}

/** A refusal is an outcome; an outage is tried again. */
async function orRefused<T>(
  work: () => Promise<T>,
): Promise<T | { kind: 'refused'; code: string }> {
  try {
    return await work();
  } catch (error) {
    if (!HelixError.isInstance(error) || error.code === 'unavailable') throw error;
    return { kind: 'refused', code: error.code };
  }
}
