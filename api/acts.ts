import { requireAddressable, toAnswerOptions } from '../ai-sdk/index.js';
import type { Runs } from '../runs/runs.js';
import { toAnswerError, type UncheckedAnswer } from '../protocol/answers.js';
import { HEADERS } from '../protocol/ids.js';
import type { OperatorAnswerBody } from '../protocol/operator.js';
import type { AnswerReply, ExtendReply, RetryReply, StopReply } from '../protocol/replies.js';
import type { StopMode } from '../protocol/run.js';
import type { OpenCall } from '../store/contract/call-record.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { AnswerResult } from '../runs/record/answers.js';
import { toActor } from './identity.js';
import type { Call } from './routes/route.js';

/**
 * The acts of people on a run. The routes of conversations, of the agent server and of operators
 * parse the requests and check that the caller may act on the session.
 */
export type ActRequest = Pick<
  Call<'caller', never, never, never>,
  'deps' | 'request' | 'response' | 'caller'
>;

export async function stopRun(
  act: ActRequest,
  record: SessionRecord,
  stop: { mode: StopMode; reason?: string | undefined; runId?: string | undefined },
): Promise<void> {
  const { kind } = await act.deps.executor.stop(record.sessionId, { ...stop, ...toActor(act) });
  act.response.status(202).json({ result: kind, runId: record.runId } satisfies StopReply);
}

type Asked<Name extends 'retry' | 'resume'> = Omit<Parameters<Runs[Name]>[0], 'sessionId'>;

/**
 * Repeats a turn and returns the new run's id. @throws HelixError `agent_not_found`, and refusals
 * of `retry`
 */
export async function retryRun(
  act: ActRequest,
  { sessionId, agent }: SessionRecord,
  from: Asked<'retry'>,
): Promise<string> {
  const { agents, executor } = act.deps;
  requireAddressable(agents, agent);
  return (await executor.retry({ sessionId, ...from, ...toActor(act) })).runId;
}

/** Continues an interrupted run and leaves an active one alone. @returns id of the run */
export async function resumeRun(
  act: ActRequest,
  { sessionId, agent }: SessionRecord,
  from: Asked<'resume'>,
): Promise<string> {
  const { agents, executor } = act.deps;
  requireAddressable(agents, agent);
  const resumed = await executor.resume({ sessionId, ...from, ...toActor(act) });
  return resumed.kind === 'resumed' ? resumed.run.runId : resumed.runId;
}

export function sendRun({ response }: Pick<ActRequest, 'response'>, runId: string): void {
  response
    .status(202)
    .set(HEADERS.runId, runId)
    .json({ runId } satisfies RetryReply);
}

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
  act: ActRequest,
  known: { record: SessionRecord; call?: Promise<OpenCall | undefined> | undefined },
  answer: Answer,
): Promise<AnswerReply> {
  const { deps, caller } = act;
  const { sessionId } = known.record;
  const options = toAnswerOptions(deps, caller, toActor(act), known);
  const given = { ...answer, sessionId, by: caller.userId };
  return toAnswerReply(await deps.executor.submitToolResult(given, options));
}

/** Converts the body of an answer for the run. The model gets the reason of an approval only. */
export function toAnswer(toolCallId: string, body: OperatorAnswerBody): Answer {
  if ('approved' in body) return { toolCallId, kind: 'approval-response', ...body };
  const { reason: _reason, ...outcome } = body;
  return { toolCallId, kind: 'client-tool-result', ...outcome };
}

export function toAnswerReply(result: AnswerResult): AnswerReply {
  if (result.kind !== 'stored' && result.kind !== 'edited') throw toAnswerError(result.kind);
  const resumed = result.kind === 'stored' && result.resume !== undefined;
  return { result: result.kind, sequence: result.sequence, resumed };
}

export async function extendDeadline(
  act: ActRequest,
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
