import { z } from 'zod';
import { HelixError, type ErrorCode } from './errors.js';
import { isStreamId } from './ids.js';
import { findJsonFault, LIMITS } from './limits.js';
import type { PendingQuestion } from './replies.js';

/** Names the call as the answer's author saw it, see `isAsShown`; required if it has approvers. */
export const SHOWN_CALL = {
  /** Names the run and the call that asked. Default: the pending call. */
  approvalId: z
    .string()
    .min(1)
    .max(3 * LIMITS.idChars)
    .optional(),
  inputHash: z.string().min(1).max(LIMITS.idChars).optional(),
};

/** Fields of every answer to a pending call, by the names of the Helix runtime. */
const target = {
  sessionId: z.string().refine(isStreamId, 'is no session id'),
  toolCallId: z.string().min(1).max(LIMITS.idChars),
  by: z.string().min(1).max(LIMITS.idChars).optional(),
  ...SHOWN_CALL,
};

/** Result or error of a client tool. An error also cancels an approval. */
export const ClientToolResult = z
  .object({
    ...target,
    kind: z.literal('client-tool-result').default('client-tool-result'),
    result: z.unknown().optional(),
    error: z.string().optional(),
  })
  .refine(
    ({ error, ...answer }) =>
      error === undefined ? 'result' in answer : answer.result === undefined,
    {
      message: 'exactly one of result and error is required',
    },
  );
export type ClientToolResult = z.infer<typeof ClientToolResult>;

export const ApprovalResponse = z.object({
  ...target,
  kind: z.literal('approval-response'),
  approved: z.boolean(),
  reason: z.string().optional(),
  input: z.unknown().optional(),
});
export type ApprovalResponse = z.infer<typeof ApprovalResponse>;

/** An answer whose fields are checked when it is parsed. */
export type UncheckedAnswer = z.input<typeof ClientToolResult> | ApprovalResponse;

type Target = Pick<
  ClientToolResult,
  'sessionId' | 'toolCallId' | 'by' | 'approvalId' | 'inputHash'
>;
type Never<Names extends PropertyKey> = Partial<Record<Names, never>>;

/** An answer as callers give it; without a kind it is a client tool's. */
export type ToolAnswerInput =
  | (Target & { kind?: 'client-tool-result' } & Never<'approved' | 'reason' | 'input'> &
      (({ result: unknown } & Never<'error'>) | ({ error: string } & Never<'result'>)))
  | (ApprovalResponse & Never<'result' | 'error'>);
export type ToolAnswer = ClientToolResult | ApprovalResponse;

/** @throws HelixError `validation_error`, or `answer_too_large` above the limits */
export function parseToolAnswer(value: unknown): ToolAnswer {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  const schema = kind === 'approval-response' ? ApprovalResponse : ClientToolResult;
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.map(String).join('.') ?? '';
    throw new HelixError(
      'validation_error',
      `The answer is not valid: ${where}${where === '' ? '' : ': '}${issue?.message ?? ''}`,
    );
  }
  const answer = parsed.data;
  if (answer.kind === 'approval-response') {
    checkSize(answer.reason, LIMITS.errorTextBytes);
    checkSize(toJson(answer.input), LIMITS.callInputBytes);
  } else {
    checkSize(answer.error, LIMITS.errorTextBytes);
    checkSize(toJson(answer.result), LIMITS.answerBytes);
  }
  return answer;
}

function checkSize(text: string | undefined, limit: number): void {
  if (text !== undefined && new TextEncoder().encode(text).length > limit) {
    throw new HelixError('answer_too_large', 'The answer is too large.', { detail: { limit } });
  }
}

function toJson(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const fault = findJsonFault(value);
  if (fault === undefined) return JSON.stringify(value);
  throw new HelixError('validation_error', `The answer cannot be taken: ${fault}.`);
}

export type AnswerRefusal =
  | 'already_completed'
  | 'not_pending'
  | 'kind_mismatch'
  | 'not_allowed'
  | 'stale_run'
  | 'expired'
  | 'late'
  | 'no_deadline'
  | 'too_far';

const REFUSALS: Record<AnswerRefusal, [code: ErrorCode, text: string]> = {
  already_completed: ['already_completed', 'This call has been answered.'],
  not_pending: ['not_pending', 'No such call waits for an answer.'],
  kind_mismatch: [
    'kind_mismatch',
    'This call asks for another kind of answer: an approval takes {"approved": true} or {"approved": false, "reason": "…"}, any other call {"result": …} or {"error": "…"}.',
  ],
  not_allowed: ['not_allowed', 'Another person has to decide about this call.'],
  stale_run: ['stale_run', 'The run that asked is over.'],
  expired: ['expired', 'The time for this answer is over.'],
  late: [
    'late_answer_after_timeout',
    'The answer came after its time limit; the agent is informed of it.',
  ],
  no_deadline: ['no_deadline', 'This call waits without a time limit.'],
  too_far: ['deadline_too_far', 'That is further ahead than a time limit may lie.'],
};

export function toAnswerError(refusal: AnswerRefusal): HelixError {
  const [code, text] = REFUSALS[refusal];
  return new HelixError(code, text);
}

export function notAsShown(waiting: PendingQuestion | undefined): HelixError {
  const text =
    'The answer does not name the call as it waits now: send its approvalId and inputHash with the answer.';
  return new HelixError('not_pending', text, { detail: { waiting } });
}

/** Note for the model about a call whose input a person changed before approving it. */
export interface ChangedInput {
  by: string;
  input: unknown;
  /** The outcome: the result as text (JSON unless it was a string), or the error. */
  outcome: string;
  failed: boolean;
}

const FAILED = 'It failed: ';
const RESULT = 'Result: ';
const NOTE =
  /^Before it was approved, the input of this call was changed by (.+?) to: (.+)\n(It failed|Result): ([^]*)$/;

export function writeChangedInput({ by, input, outcome, failed }: ChangedInput): string {
  const change = `Before it was approved, the input of this call was changed by ${by} to: ${JSON.stringify(input)}`;
  return `${change}\n${failed ? FAILED : RESULT}${outcome}`;
}

/** Parses such a note for programs that stand in for a model; undefined for any other text. */
export function readChangedInput(text: string): ChangedInput | undefined {
  const [, by, input, kind, outcome] = NOTE.exec(text) ?? [];
  if (by === undefined || input === undefined || outcome === undefined) return undefined;
  try {
    return { by, input: JSON.parse(input), outcome, failed: kind === 'It failed' };
  } catch {
    return undefined;
  }
}

/** `errorCode` of a client tool's call without a result. */
export const CLIENT_TOOL_ERROR_CODES = [
  'client_tool_timeout',
  'client_tool_abandoned',
  'client_tool_failed',
  'run_stopped',
  'run_failed',
] as const;
export type ClientToolErrorCode = (typeof CLIENT_TOOL_ERROR_CODES)[number];

/** Pending calls by id, with the fields that matter for deadlines. */
export type DeadlinesById = Readonly<
  Record<string, { readonly deadline?: number | undefined; readonly response?: unknown }>
>;

/**
 * Returns the ids of unanswered calls whose deadline has passed at `now`, ms since the epoch; the
 * store decides by its own clock. Pure.
 */
export function findExpiredPending(pending: DeadlinesById, now = Date.now()): string[] {
  return Object.entries(pending).flatMap(([toolCallId, { deadline, response }]) =>
    response === undefined && deadline !== undefined && deadline <= now ? [toolCallId] : [],
  );
}

/** Contents of a webhook's address: the pending call, and a secret that only the address holds. */
export interface WebhookToken {
  sessionId: string;
  toolCallId: string;
  secret: string;
}

const MAX_CHARS = 2_048;
const MIN_SECRET = 32;
const Token = z.tuple([
  z.string().refine(isStreamId),
  z.string().min(1),
  z.string().min(MIN_SECRET),
]);

export function formatWebhookToken({ sessionId, toolCallId, secret }: WebhookToken): string {
  return Buffer.from(JSON.stringify([sessionId, toolCallId, secret])).toString('base64url');
}

export function parseWebhookToken(token: string): WebhookToken | undefined {
  if (token.length > MAX_CHARS || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [sessionId, toolCallId, secret] = Token.parse(parts);
    return { sessionId, toolCallId, secret };
  } catch {
    return undefined;
  }
}
