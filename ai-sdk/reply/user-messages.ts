import { createHash } from 'node:crypto';
import { parseFileUrl, isAssistantMessageId, COMMON_METADATA_KEYS } from '../../protocol/ids.js';
import type { PostedMessage } from '../../protocol/http.js';
import { LIMITS } from '../../protocol/limits.js';
import { UserDataPart, type Row, type UserPart, type UserRow } from '../../protocol/rows.js';
import type { UserMessage } from '../../store/contract/runs.js';
import { contentOf } from '../../store/record/user-message.js';
import { refusal } from '../../runs/refusals.js';
import { invalid } from './refusals.js';
import type { Store } from '../../store/contract/store.js';
import { isOwner, type Caller } from './access.js';

export interface UserMessageOptions {
  metadata?: Record<string, unknown> | undefined;
  /** Hosts from which files may be named by URL; `data:` URLs are always taken. */
  allowedFileHosts?: readonly string[] | undefined;
  /** The conversation's id as its client knows it; messages may refer to its files. */
  sessionId?: string | undefined;
}

/** Returns all user messages at the end of the conversation, in order. */
export function toTrailingUserMessages(messages: readonly PostedMessage[]): PostedMessage[] {
  const before = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(before + 1);
}

/**
 * Converts posted user messages into what the session accepts. Messages before the last that it would
 * refuse are left out: a page still shows a refused message when it posts the next. Hidden ones are
 * not left out, since they belong to the next visible message.
 *
 * @throws HelixError `validation_error` or `message_too_large`; then none is accepted
 */
export function toUserMessages(
  posted: readonly PostedMessage[],
  options: UserMessageOptions = {},
): UserMessage[] {
  if (posted.length > LIMITS.newMessages) {
    throw invalid(`One request may bring at most ${String(LIMITS.newMessages)} messages.`);
  }
  const ids = new Set<string>();
  return posted.flatMap((message, at) => {
    if (ids.has(message.id)) throw invalid(`Two messages have the id "${message.id}".`);
    ids.add(message.id);
    try {
      return [toUserMessage(message, options)];
    } catch (error) {
      if (at === posted.length - 1 || isHidden(metadataOf(message, options))) throw error;
      return [];
    }
  });
}

function toUserMessage(message: PostedMessage, options: UserMessageOptions): UserMessage {
  const { id } = message;
  if (isAssistantMessageId(id)) {
    throw invalid(`"${id}" has the form of ids that the server makes; choose another.`);
  }
  const parts = toUserParts(message, options);
  const hash = hashOf(id, parts);
  const data = toDataParts(message, parts);
  const metadata = metadataOf(message, options);
  const hidden = isHidden(metadata);
  const row: UserRow = {
    role: 'user',
    id,
    parts,
    data,
    metadata,
    hidden: hidden || undefined,
  };
  return { id, hash, row, hidden };
}

/** Replaces a message's text, as an edit; its files stay. @throws HelixError `message_too_large` */
export function withText(message: UserMessage, text: string): UserMessage {
  const { id, row } = message;
  if (row.role !== 'user') return message;
  const files = row.parts.filter(({ type }) => type === 'file');
  const parts: UserPart[] = [{ type: 'text', text }, ...files];
  return { ...message, hash: hashOf(id, parts), row: { ...row, parts, edited: true } };
}

/** Returns true if a stored message has the same id and content. */
export function isSameContent(message: UserMessage, row: Row): boolean {
  return saysSame(message, row) && row.id === message.id;
}

/** Returns true if a stored message has the same content, whatever its id. */
export function saysSame({ hash }: UserMessage, row: Row): row is UserRow {
  return row.role === 'user' && hashOf(row.id, row.parts) === hash;
}

function hashOf(id: string, parts: readonly UserPart[]): string {
  const chars = parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text : part.url).length,
    0,
  );
  // This check spares the encoding of text that is far too large.
  if (chars > LIMITS.userMessageBytes) throw refusal('message_too_large', { id });
  const content = JSON.stringify(contentOf(parts));
  if (Buffer.byteLength(content) > LIMITS.userMessageBytes)
    throw refusal('message_too_large', { id });
  return createHash('sha256').update(content).digest('hex');
}

function toUserParts(message: PostedMessage, options: UserMessageOptions): UserPart[] {
  if (!hasContent(message)) throw invalid('A user message needs text or a file.');
  const { parts = [], content = '' } = message;
  if (parts.length === 0) return [{ type: 'text', text: content }];
  return parts.flatMap((part): UserPart[] => {
    // A page's own data is stored separately: the model does not get it.
    if (part.type !== 'text' && part.type !== 'file') return [];
    return [part.type === 'text' ? toTextPart(part) : toFilePart(part, options)];
  });
}

function hasContent({ parts = [], content = '' }: PostedMessage): boolean {
  if (parts.length === 0) return content !== '';
  return parts.some(({ type, text }) => type === 'file' || (type === 'text' && text !== ''));
}

/**
 * Returns the page's own parts, which the conversation keeps. They do not count as content: the
 * same message posted again without them is no other.
 *
 * @throws HelixError `message_too_large`
 */
function toDataParts(
  { id, parts = [] }: PostedMessage,
  content: readonly UserPart[],
): UserDataPart[] | undefined {
  const data: UserDataPart[] = [];
  let at = 0;
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'file') at += 1;
    const { success, data: own } = UserDataPart.safeParse({ ...part, at });
    if (success && 'data' in part) data.push(own);
  }
  if (data.length === 0) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify([content, data]));
  if (bytes > LIMITS.userMessageBytes) throw refusal('message_too_large', { id });
  return data;
}

function toTextPart(part: Record<string, unknown>): UserPart {
  const text = part['text'];
  if (typeof text !== 'string') throw invalid('The text of a text part must be a string.');
  return { type: 'text', text };
}

function toFilePart(part: Record<string, unknown>, options: UserMessageOptions): UserPart {
  const { url, mediaType, filename } = part;
  if (typeof url !== 'string' || typeof mediaType !== 'string') {
    throw invalid('A file part needs a url and a mediaType.');
  }
  if (!isAllowedFile(url, options)) {
    throw invalid(
      'Files are taken as data: URLs, as files of this conversation, or from hosts that this server allows.',
    );
  }
  const name = typeof filename === 'string' ? filename : undefined;
  return { type: 'file', url, mediaType, filename: name };
}

function isAllowedFile(
  url: string,
  { allowedFileHosts = [], sessionId }: UserMessageOptions,
): boolean {
  if (url.startsWith('data:')) return true;
  const reference = parseFileUrl(url);
  if (reference !== undefined) return reference.sessionId === sessionId;
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  return protocol === 'https:' && allowedFileHosts.includes(host);
}

function metadataOf(
  message: PostedMessage,
  options: UserMessageOptions,
): Record<string, unknown> | undefined {
  return toMetadata(message.metadata) ?? toMetadata(options.metadata);
}

function isHidden(metadata: Record<string, unknown> | undefined): boolean {
  return metadata?.[COMMON_METADATA_KEYS.HIDDEN] === true;
}

/** Drops metadata that is too large or not an object; the message is kept. */
function toMetadata(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Buffer.byteLength(JSON.stringify(value)) > LIMITS.metadataBytes) return undefined;
  return { ...value };
}

/**
 * Returns the messages whose files exist and belong to the caller. Messages accepted before may name
 * a file that was removed since. Others before the last are left out as in `toUserMessages`.
 *
 * @param storedId id under which the conversation is stored
 * @throws HelixError `validation_error`
 */
export async function requireFiles(
  { sessions, files }: Pick<Store, 'sessions' | 'files'>,
  caller: Caller,
  storedId: string,
  messages: readonly UserMessage[],
): Promise<UserMessage[]> {
  const isThere = async (fileId: string): Promise<boolean> => {
    const file = await files.read(storedId, fileId);
    return file !== undefined && isOwner(file, caller);
  };
  const mayPass = async ({ id, row }: UserMessage): Promise<boolean> => {
    for (const fileId of row.role === 'user' ? row.parts.flatMap(fileIdOf) : []) {
      if (await isThere(fileId)) continue;
      return (await sessions.acceptedMessages(storedId, [id])).length > 0;
    }
    return true;
  };
  const kept: UserMessage[] = [];
  for (const message of messages) {
    if (await mayPass(message)) kept.push(message);
    else if (message.hidden || message === messages.at(-1)) {
      throw invalid('A file of this message is not there any more; add it again.');
    }
  }
  return kept;
}

function fileIdOf(part: { type: string; url?: string }): string[] {
  const reference = part.url === undefined ? undefined : parseFileUrl(part.url);
  return reference === undefined ? [] : [reference.fileId];
}
