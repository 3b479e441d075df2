import { createAnswerCheck } from '../agents/check-answer.js';
import type {
  AnswerActivities,
  AnswerOutcome,
  AnswerRef,
  ExpireOutcome,
  OperatorAnswer,
  Refused,
} from '../protocol/activities.js';
import { parseToolAnswer, toAnswerError } from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { PendingQuestion } from '../protocol/replies.js';
import { isTerminal } from '../protocol/run.js';
import type { Wake } from '../stores/contract/call-record.js';
import type { SessionCalls } from '../stores/contract/sessions.js';
import { toAct } from '../stores/record/acts.js';
import { expireCalls } from '../stores/record/expire-calls.js';
import { requireAsShown, submitAnswer } from '../stores/record/submit-answer.js';
import type { ActivityDeps } from './deps.js';

/** The sweeper looks at a session this long after an act, in case this process dies. */
const CHECK_MS = 3_000;

/** Answers that operators give in Temporal, deadlines that pass, and deadlines that are extended. */
export function createAnswerActivities(deps: ActivityDeps): AnswerActivities {
  const { store, agents, logger } = deps;
  const check = createAnswerCheck(agents);
  // Who may send an update is up to Temporal, which does not say who did: roles cannot be checked.
  const permit = (): Promise<void> => Promise.resolve();

  async function answerCall({
    sessionId,
    answer,
    at = Date.now(),
  }: AnswerRef): Promise<AnswerOutcome> {
    const parsed = parseToolAnswer(toToolAnswer(sessionId, answer));
    // An attempt before this one has stored the change, and its reply was lost.
    const known = await store.calls.read(sessionId, parsed.toolCallId);
    if (known?.spec.edited?.at === at) return { kind: 'edited' };
    const submitted = await submitAnswer({ store, check, permit }, parsed, at, {
      actor: { via: 'temporal' },
    });
    const { result, runId, record } = submitted;
    if (result.kind === 'already_completed' && record !== undefined) {
      const { decision } = (await store.calls.read(sessionId, parsed.toolCallId)) ?? {};
      // An attempt before this one has stored it, and its reply was lost.
      if (decision?.via === 'temporal' && decision.at === at) {
        return { kind: 'stored', runId, sequence: record.sequence, resume: record.resume };
      }
    }
    if (result.kind === 'edited') return result;
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    const { resume, sequence } = result;
    // Who did it is in the line of the audit entry, by pseudonym: no erasure reaches a log.
    logger.info({ runId, toolCallId: parsed.toolCallId, via: 'temporal' }, 'a call was answered');
    await wakeOthers(deps, result.others);
    return { kind: 'stored', runId, sequence, resume };
  }

  return {
    expireCalls: async ({ sessionId, runId, step, look }) => {
      const before = await store.sessions.withCalls(sessionId);
      const own = before?.openCalls.filter(({ spec }) => spec.runId === runId) ?? [];
      const { settled, nextDueMs, unaskedMs } = await expireCalls(store, own, Date.now());
      for (const { result } of settled) await wakeOthers(deps, result.others);
      const view = settled.length === 0 ? before : await store.sessions.withCalls(sessionId);
      const wait = nextDueMs ?? unaskedMs;
      return {
        ...standingOf(view, { runId, step }, look === true),
        sequence: view?.record.sequence,
        nextDueMs: wait,
        isUnasked: nextDueMs === undefined && unaskedMs !== undefined,
      };
    },
    answerCall: (ref) => orRefused(() => answerCall(ref)),
    extendDeadline: ({ sessionId, toolCallId, byMs, by, ...shown }) =>
      orRefused(async () => {
        const call = await store.calls.read(sessionId, toolCallId);
        if (call?.state === 'waiting') requireAsShown(shown, call);
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

/**
 * How a wait for the calls of a step stands in the record, which may have gone on without the run that
 * asks, as after a reset of its workflow, or may be older than it, as after a failover.
 *
 * @param look also releases calls that have been begun: this execution of the run may not know of them
 */
function standingOf(
  view: SessionCalls | undefined,
  { runId, step }: { runId: string; step: number },
  look: boolean,
): Pick<ExpireOutcome, 'resume' | 'isOver'> {
  const { record, openCalls = [] } = view ?? {};
  if (record?.runId !== runId || isTerminal(record.status)) return { isOver: true };
  if (record.committedStep !== step) return { isOver: true };
  // An attempt before this one may have settled the last call, and died with the reply.
  const stored = record.resume?.step === step ? record.resume : undefined;
  const own = openCalls.filter(({ spec }) => spec.runId === runId);
  const begun = look ? own.filter(({ state }) => state === 'started') : [];
  if (begun.length > 0) {
    const ids = begun.map(({ spec }) => spec.toolCallId);
    const { approved, ...rest } = stored ?? { step, approved: [], partial: true };
    return { resume: { ...rest, approved: [...approved, ...ids] } };
  }
  if (stored !== undefined) return { resume: stored };
  // A sub-agent whose calls are settled waits for those of others while its conversation is paused.
  const isWaiting = record.stream === 'paused' || own.some(({ state }) => state !== 'settled');
  return isWaiting ? {} : { isOver: true };
}

/** Takes the fields of an answer by name and ignores all others. */
function toToolAnswer(sessionId: string, answer: OperatorAnswer): Record<string, unknown> {
  const { toolCallId, approvalId, inputHash, by } = answer;
  const base = { sessionId, toolCallId, approvalId, inputHash, by };
  if ('approved' in answer) {
    const { approved, reason, input } = answer;
    return { ...base, kind: 'approval-response', approved, reason, input };
  }
  const outcome = 'error' in answer ? { error: answer.error } : { result: answer.result };
  return { ...base, kind: 'client-tool-result', ...outcome };
}

/** A refusal is an outcome; after an outage Temporal retries. */
async function orRefused<T>(work: () => Promise<T>): Promise<T | Refused> {
  try {
    return await work();
  } catch (error) {
    if (!HelixError.isInstance(error) || error.code === 'unavailable') throw error;
    const { waiting } = (error.detail ?? {}) as { waiting?: PendingQuestion };
    if (waiting === undefined) return { kind: 'refused', code: error.code };
    const { toolCallId, approvalId, inputHash } = waiting;
    return { kind: 'refused', code: error.code, waiting: { toolCallId, approvalId, inputHash } };
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
