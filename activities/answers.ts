import { createAnswerCheck } from '../agents/check-answer.js';
import type {
  AnswerActivities,
  AnswerOutcome,
  AnswerRef,
  OperatorAnswer,
} from '../protocol/activities.js';
import { parseToolAnswer, toAnswerError } from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { Wake } from '../stores/contract/call-record.js';
import { toAct } from '../stores/record/acts.js';
import { expireCalls } from '../stores/record/expire-calls.js';
import { submitAnswer } from '../stores/record/submit-answer.js';
import type { ActivityDeps } from './deps.js';

/** The sweeper looks at a session this long after an act, in case this process dies. */
const CHECK_MS = 3_000;

/** Answers that operators give in Temporal, deadlines that pass, and deadlines that are extended. */
export function createAnswerActivities(deps: ActivityDeps): AnswerActivities {
  const { store, agents, logger } = deps;
  const check = createAnswerCheck(agents);
  // Who may send an update is up to Temporal, which does not say who did: roles cannot be checked.
  const permit = (): Promise<void> => Promise.resolve();

  async function answerCall({ sessionId, answer }: AnswerRef): Promise<AnswerOutcome> {
    const parsed = parseToolAnswer(toToolAnswer(sessionId, answer));
    const submitted = await submitAnswer({ store, check, permit }, parsed, Date.now(), {
      actor: { via: 'temporal' },
    });
    const { result, runId } = submitted;
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    const { resume, sequence } = result;
    // Who did it is in the line of the audit entry, by pseudonym: no erasure reaches a log.
    logger.info({ runId, toolCallId: parsed.toolCallId, via: 'temporal' }, 'a call was answered');
    await wakeOthers(deps, result.others);
    return { kind: 'stored', runId, sequence, resume };
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
        resume: resume?.step === step ? resume : undefined,
        sequence: record?.sequence,
        nextDueMs: wait,
        isUnasked: nextDueMs === undefined && unaskedMs !== undefined,
      };
    },
    answerCall: (ref) => orRefused(() => answerCall(ref)),
    extendDeadline: ({ sessionId, toolCallId, byMs, by }) =>
      orRefused(async () => {
        const call = await store.calls.read(sessionId, toolCallId);
        const runId = call?.spec.runId ?? `${sessionId}:0-none`;
        const asker = sessionOfRun(runId);
        const facts = { runId, toolCallId, toolName: call?.spec.toolName, detail: { byMs } };
        if (call !== undefined) await store.due.note(rootOf(sessionId), CHECK_MS);
        const result = await store.calls.extendDeadline({
          sessionId: asker,
          runId,
          toolCallId,
          byMs,
          deadline: call?.deadline ?? 0,
          now: Date.now(),
          act: toAct('extend', { by, via: 'temporal' }, facts),
        });
        if (result.kind !== 'extended') throw toAnswerError(result.kind);
        const { deadline, dueInMs } = result;
        logger.info({ runId, toolCallId, byMs }, 'a deadline was extended');
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
  const outcome = 'error' in answer ? { error: answer.error } : { result: answer.result };
  return { ...base, kind: 'client-tool-result', ...outcome };
}

/** A refusal is an outcome; after an outage Temporal retries. */
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

/** Signals runs of the conversation that an answer unblocks; the sweeper wakes one that is missed. */
export async function wakeOthers(
  { wake, logger }: ActivityDeps,
  others: readonly Wake[] = [],
): Promise<void> {
  if (wake === undefined) return;
  await Promise.all(
    others.map((other) =>
      wake(other).catch((error: unknown) => {
        logger.warn({ err: error, runId: other.runId }, 'the run could not be signalled');
      }),
    ),
  );
}
