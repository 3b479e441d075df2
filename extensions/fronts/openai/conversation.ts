import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { isSessionId } from '../../../protocol/ids.js';
import type { CompletionMessage, CompletionRequest } from './protocol.js';
import { readShownInputs } from '../posted-answers.js';
import { parseCallId } from './call-id.js';

/** What a request for a completion brings, read from its messages alone. */
export interface Conversation {
  sessionId: string;
  /** True if the request names no conversation: it begins one. */
  isNew: boolean;
  /** Prefix of the ids of its user messages; the same for a request that is sent again with its key. */
  messagePrefix: string;
  /** What it answers: the text by call. */
  answers: ReadonlyMap<string, string>;
  /** The inputs of those calls, as the program was shown them. */
  inputs: ReadonlyMap<string, unknown>;
  /** The user messages at its end. */
  newest: readonly CompletionMessage[];
  /** What precedes them. */
  before: readonly CompletionMessage[];
}

interface Named {
  caller: Caller;
  /** Value of `x-session-id`. */
  session: string | undefined;
  /** Value of `Idempotency-Key`. */
  key: string | undefined;
}

/**
 * Reads which conversation a request is about and what it adds. Only what follows the last reply counts:
 * the server has the rest, and believes no copy of it.
 *
 * @throws HelixError `validation_error`
 */
export function readConversation(
  { messages, metadata }: CompletionRequest,
  { caller, session, key }: Named,
): Conversation {
  const named = session ?? metadata?.['session_id'];
  if (named !== undefined && !isSessionId(named)) {
    throw invalid('The session id must match [A-Za-z0-9_-]{1,128}.');
  }
  const start = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const answers = new Map<string, string>();
  let answered = named;
  for (const message of messages.slice(start)) {
    if (message.role !== 'tool') continue;
    const call = parseCallId(message.tool_call_id ?? '', answered);
    if (call === undefined) throw invalid('A tool message needs the tool_call_id of its call.');
    answered = call.sessionId;
    answers.set(call.toolCallId, toText(message));
  }
  const inputs = new Map<string, unknown>();
  for (const [id, input] of readShownInputs(messages[start - 1]?.tool_calls)) {
    const call = parseCallId(id, answered);
    if (call !== undefined) inputs.set(call.toolCallId, input);
  }
  const keyed = key && hashOf([caller.tenantId, caller.userId, key]);
  const isUsers = ({ role }: CompletionMessage): boolean => role === 'user';
  return {
    sessionId: answered ?? `c-${keyed ?? randomUUID()}`,
    isNew: answered === undefined,
    messagePrefix: `c-${keyed ?? randomUUID()}`,
    answers,
    inputs,
    newest: messages.slice(start).filter(isUsers),
    before: messages.slice(0, start),
  };
}

/**
 * The conversation that the newest `tool` message of an earlier round names; undefined if none does. A
 * client may name any: whether it is the caller's is for the record to say. Pure.
 */
export function readEarlierSession({
  messages,
}: Pick<CompletionRequest, 'messages'>): string | undefined {
  const ids = messages.map(({ tool_call_id: id = '' }) => parseCallId(id, undefined)?.sessionId);
  return ids.findLast((id) => id !== undefined);
}

/** The text of a message. Pure. */
export function toText({ content }: CompletionMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
    .join('');
}

/** A short name for a value. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function invalid(text: string): HelixError {
  return new HelixError('validation_error', text);
}
