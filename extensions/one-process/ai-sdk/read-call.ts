import { isDeepStrictEqual } from 'node:util';
import type { FlexibleSchema, ModelMessage, ToolModelMessage, ToolSet } from 'ai';
import { toPromptMessages } from '../../../activities/model/prepare-messages.js';
import type { AgentSettings } from '../../../agents/index.js';
import { toToolSchema } from '../../../agents/ai-sdk/tool-schema.js';
import type { UserInputMessage } from '../../../protocol/agent-server.js';
import { HelixError } from '../../../protocol/errors.js';
import { parseApprovalId, rootOf, sessionOfRun } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { Row, UserPart } from '../../../protocol/rows.js';
import { endsWithin } from '../../../protocol/time.js';
import type { ToolAnswer } from '../../../runs/run-handle.js';
import { toStoredJson } from '../../../store/record/stored-json.js';
import type { CallCallbacks } from './call-hooks.js';

/** Argument of `generate` and `stream`. */
export type AgentCall<CALL_OPTIONS = never, TOOLS extends ToolSet = ToolSet> = CallFields &
  CallCallbacks<TOOLS> &
  ([CALL_OPTIONS] extends [never] ? { options?: never } : { options: CALL_OPTIONS });

interface CallFields {
  prompt?: string | ModelMessage[];
  messages?: ModelMessage[];
  /** Stops the run; the call rejects with the signal's reason. */
  abortSignal?: AbortSignal | undefined;
  /** Time limit of the call, ms; then the run is stopped. Other limits are settings of the agent. */
  timeout?: number | { totalMs: number } | undefined;
  /** Conversation to continue. Default: the one that returned the given messages, else a new one. */
  sessionId?: string | undefined;
  /** Owner of the conversation. Default: `anonymous`. */
  userId?: string | undefined;
}

/**
 * A new turn of a conversation, or answers to its pending calls. `results` are the calls whose results
 * are in the messages.
 */
export type ReadCall = { results: ReadonlySet<string> } & (
  | {
      kind: 'turn';
      sessionId: string | undefined;
      messages: UserInputMessage[];
      /** Messages before those. */
      history: readonly ModelMessage[];
    }
  | { kind: 'answers'; sessionId: string; answers: ToolAnswer[] }
);

const KNOWN = new Set([
  'prompt',
  'messages',
  'abortSignal',
  'timeout',
  'sessionId',
  'userId',
  'options',
  'onStepEnd',
  'onStepFinish',
  'onEnd',
  'onFinish',
]);

/**
 * Returns the signal of a call, which also aborts after its time limit.
 *
 * @throws HelixError `validation_error` for limits that belong to the agent
 */
export function withTimeout({
  abortSignal,
  timeout,
}: Pick<CallFields, 'abortSignal' | 'timeout'>): AbortSignal | undefined {
  if (timeout === undefined) return abortSignal;
  const { totalMs, ...others } = typeof timeout === 'number' ? { totalMs: timeout } : timeout;
  const other = Object.keys(others)[0];
  if (other !== undefined) throw invalid(`"timeout.${other}" is a setting of the agent.`);
  if (!(totalMs > 0 && totalMs < 2 ** 31)) throw invalid('"timeout" is no number of milliseconds.');
  return endsWithin(totalMs, ...(abortSignal ? [abortSignal] : []));
}

/**
 * Reads the new part of the messages: the newest user messages, or the answers after the newest message of
 * the model or the record. Earlier messages count only if no record knows the conversation.
 *
 * @param sessionOf returns the conversation that returned a message
 * @throws HelixError `validation_error`
 */
export async function readCall(
  call: CallFields,
  sessionOf: (message: object) => string | undefined,
): Promise<ReadCall> {
  const unknown = Object.entries(call).find(
    ([field, value]) => value !== undefined && !KNOWN.has(field),
  )?.[0];
  if (unknown !== undefined) throw invalid(`"${unknown}" is a setting of the agent, or not known.`);
  const messages = toMessages(call);
  if (messages.some(({ role }) => role === 'system')) throw invalid(SYSTEM);
  const known = messages.findLastIndex(
    (message) => message.role === 'assistant' || sessionOf(message) !== undefined,
  );
  const newest = messages[known];
  const sessionId = call.sessionId ?? (newest && sessionOf(newest));
  const fresh = messages.slice(known + 1);
  if (messages.at(-1)?.role === 'user') {
    const begins = messages.findLastIndex(({ role }) => role !== 'user') + 1;
    const history = messages.slice(0, begins);
    const results = resultsIn(history);
    if (fresh.some((message) => isUndone(message, results))) throw invalid(TWO_CALLS);
    const added = (await toPromptMessages(messages.slice(begins))).map(toInput);
    return { kind: 'turn', sessionId, messages: added, history, results };
  }
  const answers = fresh.flatMap((message) => (message.role === 'tool' ? toAnswers(message) : []));
  if (answers.length === 0) throw invalid('There is neither a new message nor an answer.');
  if (fresh.some(({ role }) => role === 'user')) throw invalid(TWO_CALLS);
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  return { kind: 'answers', ...inOneSession(answers, sessionId), results: resultsIn(turn) };
}

export const TWO_CALLS = 'Answers and a new message are two calls.';

/** Returns true if the message has a decision whose call has no result yet. Results also occur in histories. */
function isUndone(message: ModelMessage, results: ReadonlySet<string>): boolean {
  if (message.role !== 'tool') return false;
  return message.content.some((part) => {
    if (part.type !== 'tool-approval-response') return false;
    const asked = parseApprovalId(part.approvalId);
    return asked !== undefined && !results.has(asked.toolCallId);
  });
}

function resultsIn(messages: readonly ModelMessage[]): ReadonlySet<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) => (part.type === 'tool-result' ? part.toolCallId : []))
        : [],
    ),
  );
}

const SYSTEM = 'A system message belongs to the instructions of the agent.';

function toMessages({ prompt, messages }: CallFields): ModelMessage[] {
  if ((prompt === undefined) === (messages === undefined)) {
    throw invalid('Either prompt or messages is required.');
  }
  const given = prompt ?? messages;
  return typeof given === 'string' ? [{ role: 'user', content: given }] : (given ?? []);
}

interface AnswerOfSession {
  answer: ToolAnswer;
  /** Conversation of an approval, from the approval's id. */
  sessionId?: string;
}

/** Reads answers. As in the AI SDK, an approval with a result was executed before; a denial has no result. */
function toAnswers({ content }: ToolModelMessage): AnswerOfSession[] {
  const results = content.flatMap((part) => (part.type === 'tool-result' ? [part] : []));
  const decided = new Set<string>();
  const decisions = content.flatMap((part): AnswerOfSession[] => {
    if (part.type !== 'tool-approval-response') return [];
    const { approvalId, approved, reason } = part;
    const parsed = parseApprovalId(approvalId);
    if (parsed === undefined) throw invalid(`The approval "${approvalId}" is not known.`);
    const { runId, toolCallId } = parsed;
    decided.add(toolCallId);
    const result = results.find((each) => each.toolCallId === toolCallId);
    if (result && (approved || result.output.type !== 'execution-denied')) return [];
    return [
      {
        sessionId: rootOf(sessionOfRun(runId)),
        answer: { kind: 'approval-response', toolCallId, approvalId, approved, reason },
      },
    ];
  });
  const outcomes = results.filter(({ toolCallId }) => !decided.has(toolCallId));
  return [...decisions, ...outcomes.map((part) => ({ answer: toResult(part) }))];
}

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

function toResult({ toolCallId, output }: ResultPart): ToolAnswer {
  switch (output.type) {
    case 'text':
    case 'json':
      return { toolCallId, result: output.value };
    case 'error-text':
      return { toolCallId, error: output.value };
    case 'error-json':
      return { toolCallId, error: JSON.stringify(output.value) };
    default:
      throw invalid(`A result of the type "${output.type}" cannot be an answer.`);
  }
}

function inOneSession(
  answers: readonly AnswerOfSession[],
  known: string | undefined,
): { sessionId: string; answers: ToolAnswer[] } {
  const named = answers.flatMap(({ sessionId }) => sessionId ?? []);
  const [sessionId, ...others] = new Set([...(known === undefined ? [] : [known]), ...named]);
  if (sessionId === undefined) throw invalid('Name the conversation of a result by sessionId.');
  if (others.length > 0) throw invalid('The answers belong to different conversations.');
  return { sessionId, answers: answers.map(({ answer }) => answer) };
}

/** Converts a user message. */
function toInput(message: PromptMessage): UserInputMessage {
  const parts = message.role === 'user' ? message.content.map(toUserPart) : [];
  return { parts, ...toMarks(message) };
}

/** A message of the AI SDK in its most explicit form. */
export type PromptMessage = Awaited<ReturnType<typeof toPromptMessages>>[number];

type Content = Extract<PromptMessage, { role: 'user' | 'assistant' }>['content'][number];

/** Returns the provider options of a message or part. */
export function toMarks({
  providerOptions,
}: Pick<PromptMessage, 'providerOptions'>): Pick<UserPart, 'providerOptions'> {
  return providerOptions === undefined ? {} : { providerOptions };
}

/** @throws HelixError `validation_error` for a file that only its provider has */
export function toUserPart(part: Content): UserPart {
  const marks = toMarks(part);
  if (part.type === 'text') return { type: 'text', text: part.text, ...marks };
  const { data, mediaType, filename } = part as Extract<Content, { type: 'file' }>;
  if (data.type === 'url') {
    return { type: 'file', url: data.url.href, mediaType, filename, ...marks };
  }
  if (data.type !== 'data') {
    throw invalid(`A file of the type "${data.type}" cannot be stored.`);
  }
  const base64 =
    typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  const url = `data:${mediaType};base64,${base64}`;
  return { type: 'file', url, mediaType, filename, ...marks };
}

/** Key of a turn's call options in the metadata of its user message. */
const KEY = 'callOptions';

/** Reads a turn's call options for each of its steps. */
export const callOptionsOfTurn: NonNullable<AgentSettings['callOptions']> = ({ messageMetadata }) =>
  (messageMetadata as Record<string, unknown> | undefined)?.[KEY];

/**
 * Validates call options and returns them unchanged for storage. The agent's schema transforms them for
 * `prepareCall` in each step.
 *
 * @throws HelixError `validation_error` for options that do not match the schema or are not JSON
 */
export async function toKeptOptions(options: unknown, schema: unknown): Promise<unknown> {
  if (schema !== undefined) {
    const { error } = await toToolSchema(schema as FlexibleSchema).safeParseAsync(options);
    const [issue] = error?.issues ?? [];
    if (issue !== undefined) {
      const at = ['options', ...issue.path].map(String).join('.');
      throw invalid(`${at}: ${issue.message}`);
    }
  }
  const json = toStoredJson(options);
  if (!isJson(options)) throw invalid('options are kept with the conversation: they must be JSON.');
  if (Buffer.byteLength(json) > LIMITS.metadataBytes) throw invalid('options are too large.');
  return JSON.parse(json) as unknown;
}

/** Adds the turn's call options to the messages that begin it. Pure. */
export function withCallOptions(
  messages: readonly UserInputMessage[],
  options: unknown,
): UserInputMessage[] {
  return messages.map((message) => ({ ...message, metadata: { [KEY]: options } }));
}

/**
 * Requires that options given with answers, as the AI SDK demands, equal those of the turn.
 *
 * @throws HelixError `validation_error` for options that differ from the turn's
 */
export function requireSameOptions(turn: readonly Row[], options: unknown): void {
  const begun = turn.find((row) => row.role === 'user')?.metadata?.[KEY];
  if (isDeepStrictEqual(begun, options)) return;
  throw invalid('options are those with which the turn has begun; others need a new message.');
}

/** Returns true for a value that survives JSON unchanged, apart from undefined fields. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain && Object.values(value).every((each) => each === undefined || isJson(each));
}

function invalid(message: string): HelixError {
  return new HelixError('validation_error', message);
}
