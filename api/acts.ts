import { requireAddressable, toAnswerOptions } from '../ai-sdk/index.js';
import type { Runs } from '../runs/runs.js';
import { toAnswerError, type UncheckedAnswer } from '../protocol/answers.js';
import { HEADERS } from '../protocol/wire-names.js';
import type { OperatorAnswerBody } from '../protocol/operator.js';
import type { AnswerReply, ExtendReply, RetryReply, StopReply } from '../protocol/replies.js';
import type { StopMode } from '../protocol/run.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { AnswerResult } from '../runs/record/submit-answer.js';
import { toActor } from './identity.js';
import type { Call } from './routes/route.js';

/**
 * What people do with a run, each act once: the routes of conversations, of the agent server and of operators read
 * their requests, and check that the caller may act on the session.
 */
type Act = Pick<Call<'caller', never, never, never>, 'deps' | 'request' | 'response' | 'caller'>;

/** Stops the newest run, or only that of `runId`, and replies. */
export async function stopRun(
  act: Act,
  record: SessionRecord,
  stop: { mode: StopMode; reason?: string | undefined; runId?: string },
): Promise<void> {
  const { kind } = await act.deps.executor.stop(record.sessionId, { ...stop, ...toActor(act) });
  act.response.status(202).json({ result: kind, runId: record.runId } satisfies StopReply);
}

type Asked<Name extends 'retry' | 'resume'> = Omit<Parameters<Runs[Name]>[0], 'sessionId'>;

/** Repeats a turn. @returns the id of its run @throws HelixError `agent_not_found`, and why it cannot be repeated */
export async function retryRun(
  act: Act,
  { sessionId, agent }: SessionRecord,
  from: Asked<'retry'>,
): Promise<string> {
  const { agents, executor } = act.deps;
  requireAddressable(agents, agent);
  return (await executor.retry({ sessionId, ...from, ...toActor(act) })).runId;
}

/** Continues a run that was interrupted; one that has not ended is left alone. @returns as `retryRun` */
export async function resumeRun(
  act: Act,
  { sessionId, agent }: SessionRecord,
  from: Asked<'resume'>,
): Promise<string> {
  const { agents, executor } = act.deps;
  requireAddressable(agents, agent);
  const resumed = await executor.resume({ sessionId, ...from, ...toActor(act) });
  return resumed.kind === 'resumed' ? resumed.run.runId : resumed.runId;
}

/** Replies with the run that was begun. */
export function sendRun({ response }: Pick<Act, 'response'>, runId: string): void {
  response
    .status(202)
    .set(HEADERS.runId, runId)
    .json({ runId } satisfies RetryReply);
}

/** The refusals of an answer. */
export const NOT_TAKEN = [
  'not_pending',
  'already_completed',
  'stale_run',
  'kind_mismatch',
  'expired',
  'late_answer_after_timeout',
  'answer_too_large',
  'invalid_result',
  'invalid_input',
  'not_allowed',
] as const;

type WithoutSender<A> = A extends unknown ? Omit<A, 'sessionId' | 'by'> : never;
type Answer = WithoutSender<UncheckedAnswer>;

/** Answers a pending call. @throws HelixError for an answer that is not taken */
export async function answerCall(
  act: Act,
  record: SessionRecord,
  answer: Answer,
): Promise<AnswerReply> {
  const { deps, caller } = act;
  const { sessionId } = record;
  const options = toAnswerOptions(deps, caller, toActor(act), { record });
  const given = { ...answer, sessionId, by: caller.userId };
  return toAnswerReply(await deps.executor.submitToolResult(given, options));
}

/** The body of an answer as a run takes it. Only an approval's reason goes to the model. */
export function toAnswer(toolCallId: string, body: OperatorAnswerBody): Answer {
  if ('approved' in body) return { toolCallId, kind: 'approval-response', ...body };
  const { reason: _reason, ...outcome } = body;
  return { toolCallId, kind: 'client-tool-result', ...outcome };
}

/** @throws HelixError for an answer that was not taken */
export function toAnswerReply(result: AnswerResult): AnswerReply {
  if (result.kind !== 'stored' && result.kind !== 'edited') throw toAnswerError(result.kind);
  const resumed = result.kind === 'stored' && result.resume !== undefined;
  return { result: result.kind, sequence: result.sequence, resumed };
}

/** Extends a call's deadline, and replies. @throws HelixError if it cannot be extended */
export async function extendDeadline(
  act: Act,
  { sessionId }: SessionRecord,
  extension: { toolCallId: string; byMs: number; reason?: string | undefined },
): Promise<void> {
  const { deps, caller, response } = act;
  const result = await deps.executor.extendDeadline(
    { sessionId, ...extension, ...toActor(act) },
    { responder: caller },
  );
  if (result.kind !== 'extended') throw toAnswerError(result.kind);
  const { toolCallId, byMs } = extension;
  deps.logger.info({ sessionId, toolCallId, byMs }, 'a deadline was extended');
  response
    .status(202)
    .json({ result: 'extended', deadline: result.deadline } satisfies ExtendReply);
}
