import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { isSessionId } from '../../../protocol/ids.js';
import type { CompletionMessage, CompletionRequest } from './protocol.js';
import { readShownInputs } from '../posted-answers.js';
import { parseCallId } from './call-id.js';

/** The content of a completion request, read from its messages alone. */
export interface Conversation {
  sessionId: string;
  /** True if the request names no conversation and so begins one. */
  isNew: boolean;
  /** Prefix of the user messages' ids; the same when a request is repeated with its key. */
  messagePrefix: string;
  /** Answer texts by call. */
  answers: ReadonlyMap<string, string>;
  /** Inputs of the answered calls as the program saw them. */
  inputs: ReadonlyMap<string, unknown>;
  /** User messages at the end of the request. */
  newest: readonly CompletionMessage[];
  /** Messages before those. */
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
 * Reads the conversation that a request belongs to and the messages that it adds. Only messages after the
 * last reply count; for the rest the server trusts only its own record.
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
 * Returns the conversation that the newest earlier `tool` message names, if any. The caller must still
 * check in the record that the conversation is the client's. Pure.
 */
export function readEarlierSession({
  messages,
}: Pick<CompletionRequest, 'messages'>): string | undefined {
  const ids = messages.map(({ tool_call_id: id = '' }) => parseCallId(id, undefined)?.sessionId);
  return ids.findLast((id) => id !== undefined);
}

/** Returns the text of a message. Pure. */
export function toText({ content }: CompletionMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
    .join('');
}

/** Returns a short digest of a value. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function invalid(text: string): HelixError {
  return new HelixError('validation_error', text);
}
