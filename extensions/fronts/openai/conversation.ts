import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { isSessionId, COMMON_METADATA_KEYS } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import {
  convertEach,
  parseOutput,
  readDecision,
  readShownInputs,
  toDataUrl,
  type Answers,
  type Decided,
} from '../posted-answers.js';
import type { CompletionMessage, CompletionRequest } from './protocol.js';

/** The content of a completion request, read from its messages alone. */
export interface Conversation {
  sessionId: string;
  /** True if the request names no conversation and so begins one. */
  isNew: boolean;
  /** Prefix of the user messages' ids; the same when a request is repeated with its key. */
  messagePrefix: string;
  answers: ReadonlyMap<string, string>;
  /** Inputs of the answered calls as the program saw them. */
  inputs: ReadonlyMap<string, unknown>;
  newest: readonly CompletionMessage[];
  before: readonly CompletionMessage[];
}

interface Named {
  caller: Caller;
  session: string | undefined;
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

function toText({ content }: CompletionMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
    .join('');
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function invalid(text: string): HelixError {
  return new HelixError('validation_error', text);
}

/** A session id has no colon; a call id may have some. */
const SEPARATOR = ':';

/** Returns a call's id with its conversation, for programs that send no session. Pure. */
export function formatCallId(sessionId: string, toolCallId: string): string {
  return sessionId + SEPARATOR + toolCallId;
}

/** Parses an id of `formatCallId`, or a bare call id of a named session; undefined for another session's. Pure. */
function parseCallId(
  id: string,
  named: string | undefined,
): { sessionId: string; toolCallId: string } | undefined {
  const at = id.indexOf(SEPARATOR);
  const sessionId = id.slice(0, Math.max(at, 0));
  const toolCallId = id.slice(at + 1);
  if (named !== undefined) {
    return { sessionId: named, toolCallId: sessionId === named ? toolCallId : id };
  }
  return isSessionId(sessionId) && toolCallId !== '' ? { sessionId, toolCallId } : undefined;
}

/**
 * Reads answers from the texts of `tool` messages. OpenAI's protocol has results only, so the server's record
 * tells which of them are decisions. For a call that is no longer open, the text's form decides. Pure.
 *
 * @param texts by call
 */
export function readAnswers(
  texts: ReadonlyMap<string, string>,
  { openCalls }: Pick<SessionCalls, 'openCalls'>,
): Omit<Answers, 'inputs'> {
  const kinds = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec.kind]));
  const results = new Map<string, { text: string }>();
  const decisions = new Map<string, Decided>();
  for (const [toolCallId, text] of texts) {
    const isClients = kinds.get(toolCallId) === 'client';
    const decision = isClients ? undefined : readDecision(parseOutput(text));
    if (decision === undefined) results.set(toolCallId, { text });
    else decisions.set(toolCallId, decision);
  }
  return { results, decisions };
}

/** Limit of the quoted earlier conversation, in characters; the newest messages are kept. */
const EARLIER_CHARS = LIMITS.userMessageBytes / 8;

/**
 * Converts the user messages of a request to messages that a chat client would post. A new conversation
 * begins with a quote of the program's earlier messages, which is plain user text without authority. Pure.
 *
 * @throws HelixError `validation_error` for content that is neither text nor a file
 */
export function toPostedMessages({
  newest,
  before,
  isNew,
  messagePrefix,
}: Pick<Conversation, 'newest' | 'before' | 'isNew' | 'messagePrefix'>): PostedMessage[] {
  // Numbered from the end, so that one more message at the end changes all ids.
  const posted = convertEach(newest, (message, index) => ({
    id: `${messagePrefix}-${String(newest.length - 1 - index)}`,
    role: 'user',
    parts: toParts(message),
  }));
  const earlier = isNew && posted.length > 0 ? quote(before) : undefined;
  if (earlier === undefined) return posted;
  const metadata = { [COMMON_METADATA_KEYS.HIDDEN]: true };
  const text = `Earlier in this conversation, as the user's program reports it:\n${earlier}`;
  return [
    { id: `${messagePrefix}-earlier`, role: 'user', parts: [{ type: 'text', text }], metadata },
    ...posted,
  ];
}

/** Quotes messages as JSON lines, so that none can pass for another. The oldest is cut at its beginning. */
function quote(messages: readonly CompletionMessage[]): string | undefined {
  const lines: string[] = [];
  let left = EARLIER_CHARS;
  for (const message of messages.toReversed()) {
    const { role } = message;
    const text = toText(message);
    if ((role !== 'user' && role !== 'assistant') || text === '') continue;
    if (left <= 0) break;
    // A cut through a pair of surrogates leaves half a character.
    const content = text.slice(-left).toWellFormed();
    left -= content.length;
    lines.unshift(JSON.stringify({ role, content }));
  }
  return lines.length === 0 ? undefined : lines.join('\n');
}

type Part = NonNullable<PostedMessage['parts']>[number];

function toParts({ content }: CompletionMessage): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []).map(toPart);
}

function toPart(part: Part): Part {
  switch (part.type) {
    case 'text':
      return part;
    case 'image_url':
      return toFile(fieldsOf(part['image_url'])['url'], 'image/*');
    case 'file': {
      const { file_data: url, filename } = fieldsOf(part['file']);
      return { ...toFile(url, 'application/octet-stream'), filename };
    }
    case 'input_audio': {
      const { data, format } = fieldsOf(part['input_audio']);
      if (typeof data !== 'string' || typeof format !== 'string') break;
      return toFile(toDataUrl(`audio/${format}`, data), '');
    }
  }
  throw invalid(`Content of type "${part.type}" is not taken.`);
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[;,]/;

function toFile(url: unknown, otherwise: string): Part {
  const mediaType = typeof url === 'string' ? (DATA_URL.exec(url)?.[1] ?? otherwise) : otherwise;
  return { type: 'file', url, mediaType };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
