import { isDeepStrictEqual } from 'node:util';
import { createAnswerCheck } from '../agents/check-answer.js';
import type {
  AnswerActivities,
  AnswerOutcome,
  AnswerRef,
  LookRef,
  OperatorAnswer,
  Refused,
} from '../protocol/temporal.js';
import {
  parseToolAnswer,
  toAnswerError,
  type ToolAnswer,
  type UncheckedAnswer,
} from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import { runNumberOf, sessionOfRun } from '../protocol/ids.js';
import type { PendingQuestion } from '../protocol/replies.js';
import type { ToolRow } from '../protocol/rows.js';
import { isTerminal, type At } from '../protocol/run.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { createAnswers } from '../runs/record/answers.js';
import { STATE_LOST } from '../runs/record/force-end.js';
import type { ActivityDeps } from './deps.js';
import { endLost } from './end-step.js';

/** Activities for operators' answers in Temporal, expired deadlines, and extended deadlines. */
export function createAnswerActivities(deps: ActivityDeps): AnswerActivities {
  const { store, agents, logger } = deps;
  const check = createAnswerCheck(agents);
  const answers = createAnswers({ ...deps, host: 'run' });

  async function answerCall(ref: AnswerRef): Promise<AnswerOutcome> {
    const { sessionId, answer, at = Date.now() } = ref;
    const given = toToolAnswer(sessionId, answer);
    const { toolCallId } = answer;
    // An earlier attempt may have stored the change and lost its reply.
    const known = await store.calls.read(sessionId, toolCallId);
    if (known?.spec.edited?.at === at) return { kind: 'edited' };
    const submitted = await answers.submit(given, { at, actor: { via: 'temporal' } });
    const { result, runId, record } = submitted;
    if (result.kind === 'already_completed' && record !== undefined) {
      const call = await store.calls.read(sessionId, toolCallId);
      const { decision, row } = call ?? {};
      if (decision?.via === 'temporal' && decision.at === at) return stored(runId);
      // The row of a client's result has no time, so the same result counts as the same answer.
      if (call !== undefined && row?.role === 'tool' && row.via === 'temporal') {
        const checked = await check(record, call.spec, parseToolAnswer(given));
        if (isResultOf(row, checked)) return stored(runId);
      }
    }
    if (result.kind === 'edited') return result;
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    // An erasure cannot reach logs, so this line contains no name. The audit entry has a pseudonym.
    logger.info({ runId, toolCallId, via: 'temporal' }, 'a call was answered');
    return stored(runId, result.at);
  }

  async function stored(runId: string, known?: At): Promise<AnswerOutcome> {
    const run = { sessionId: sessionOfRun(runId), runId };
    return { kind: 'stored', runId, at: known ?? (await store.runs.next(run, { lists: true })) };
  }

  async function look(ref: LookRef): Promise<At> {
    const { sessionId, runId, known } = ref;
    const read = (): Promise<At> =>
      store.runs.next({ sessionId, runId }, { lists: true, calls: true });
    const at = await read();
    if (at.version < known.version || at.sequence < known.sequence) {
      const record = await store.sessions.read(sessionId);
      if (record !== undefined && isOlder(record, runId)) {
        const step = record.committedStep;
        await endLost(deps, { ...ref, step }, known.sequence);
        // Reports the end even if the record no longer has the run.
        const { version, sequence } = known;
        const error = STATE_LOST;
        return { version, sequence, next: { do: 'done', step, status: 'failed', error } };
      }
    }
    if (at.next.do !== 'open' || at.next.dueInMs !== 0) return at;
    await answers.expireCalls(sessionId, runId);
    return read();
  }

  return {
    look: async (ref) => ({ at: await look(ref) }),
    answerCall: (ref) => orRefused(() => answerCall(ref)),
    extendDeadline: ({ sessionId, toolCallId, byMs, by, approvalId, inputHash }) =>
      orRefused(async () => {
        const wanted = { sessionId, toolCallId, byMs, by, approvalId, inputHash };
        const result = await answers.extendDeadline({ ...wanted, via: 'temporal' });
        if (result.kind !== 'extended') throw toAnswerError(result.kind);
        logger.info({ sessionId, toolCallId, byMs }, 'a deadline was extended');
        return { kind: 'extended', deadline: result.deadline };
      }),
  };
}

/** Takes the fields of an answer by name and ignores all others. */
function toToolAnswer(sessionId: string, answer: OperatorAnswer): UncheckedAnswer {
  const { toolCallId, approvalId, inputHash, by } = answer;
  const base = { sessionId, toolCallId, approvalId, inputHash, by };
  if ('approved' in answer) {
    const { approved, reason, input } = answer;
    return { ...base, kind: 'approval-response', approved, reason, input };
  }
  const outcome = 'error' in answer ? { error: answer.error } : { result: answer.result };
  return { ...base, kind: 'client-tool-result', ...outcome };
}

/** Returns true if the row stores this answer of a client's tool. */
function isResultOf(row: ToolRow, answer: ToolAnswer): boolean {
  if (answer.kind !== 'client-tool-result') return false;
  if (answer.error !== undefined) return row.error === answer.error;
  return row.error === undefined && isDeepStrictEqual(row.output, answer.result ?? null);
}

/** Returns true if the record is too old to have seen the run as far as the run got. */
function isOlder(record: SessionRecord, runId: string): boolean {
  if (record.runId === runId) return !isTerminal(record.status);
  return runNumberOf(record.runId) < runNumberOf(runId);
}

/** Returns a refusal as an outcome; an outage is thrown so that Temporal retries. */
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
