import { createHash } from 'node:crypto';
import { hasCode } from '../../protocol/errors.js';
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
 * Converts posted user messages into what the session accepts. Those before the last without text or
 * a file are left out.
 *
 * @throws HelixError `validation_error` or `message_too_large`; then none is accepted
 */
export function toUserMessages(
  posted: readonly PostedMessage[],
  options: UserMessageOptions = {},
): UserMessage[] {
  const said = posted.filter((message, at) => at === posted.length - 1 || hasContent(message));
  requireDistinct(said);
  return said.map((message) => toUserMessage(message, options));
}

/** Converts the user messages that a page shows, as `toUserMessages`; passes over refused ones. */
export async function toShownMessages(
  posted: readonly PostedMessage[],
  { editedId, ...options }: UserMessageOptions & { editedId?: string | undefined } = {},
): Promise<UserMessage[]> {
  const messages = await skipRefused(posted, {
    editedId,
    isHidden: (message) => isHidden(metadataOf(message, options)),
    take: (group) => toUserMessages(group, options),
  });
  requireDistinct(messages);
  return messages;
}

/**
 * Returns what `take` makes of a page's messages, in order: each visible message is taken together
 * with the hidden ones before it, which belong to it. A page still shows a refused message when it
 * posts the next, so refused ones are left out, but neither the last nor the edited one.
 */
async function skipRefused<Message extends { id: string }>(
  messages: readonly Message[],
  options: {
    editedId: string | undefined;
    isHidden: (message: Message) => boolean;
    take: (group: readonly Message[]) => readonly UserMessage[] | Promise<readonly UserMessage[]>;
  },
): Promise<UserMessage[]> {
  const taken: UserMessage[] = [];
  let group: Message[] = [];
  for (const [at, message] of messages.entries()) {
    group.push(message);
    const isLast = at === messages.length - 1;
    if (options.isHidden(message) && !isLast) continue;
    try {
      taken.push(...(await options.take(group)));
    } catch (error) {
      const isAsked = isLast || group.some(({ id }) => id === options.editedId);
      const isRefused = hasCode(error, 'validation_error', 'message_too_large');
      if (isAsked || !isRefused) throw error;
    }
    group = [];
  }
  return taken;
}

function requireDistinct(messages: readonly { id: string }[]): void {
  if (messages.length > LIMITS.newMessages) {
    throw invalid(`One request may bring at most ${String(LIMITS.newMessages)} messages.`);
  }
  const ids = new Set<string>();
  for (const { id } of messages) {
    if (ids.has(id)) throw invalid(`Two messages have the id "${id}".`);
    ids.add(id);
  }
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
  return hasSameContent(message, row) && row.id === message.id;
}

/** Returns true if a stored message has the same content, whatever its id. */
export function hasSameContent({ hash }: UserMessage, row: Row): row is UserRow {
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
 * Checks that the files of new messages exist and belong to the caller. Messages accepted before
 * may name a file that was removed since.
 *
 * @param storedId id under which the conversation is stored
 * @throws HelixError `validation_error`
 */
export async function requireFiles(
  { sessions, files }: Pick<Store, 'sessions' | 'files'>,
  caller: Caller,
  storedId: string,
  messages: readonly UserMessage[],
): Promise<void> {
  const isThere = async (fileId: string): Promise<boolean> => {
    const file = await files.read(storedId, fileId);
    return file !== undefined && isOwner(file, caller);
  };
  for (const { id, row } of messages) {
    for (const fileId of row.role === 'user' ? row.parts.flatMap(fileIdOf) : []) {
      if (await isThere(fileId)) continue;
      if ((await sessions.acceptedMessages(storedId, [id])).length > 0) continue;
      throw invalid('A file of this message is not there any more; add it again.');
    }
  }
}

/** Returns the messages of a page that `requireFiles` does not refuse. @throws HelixError likewise */
export function withFiles(
  store: Pick<Store, 'sessions' | 'files'>,
  caller: Caller,
  storedId: string,
  { messages, messageId }: { messages: readonly UserMessage[]; messageId?: string },
): Promise<UserMessage[]> {
  return skipRefused(messages, {
    editedId: messageId,
    isHidden: ({ hidden }) => hidden,
    take: async (group) => {
      await requireFiles(store, caller, storedId, group);
      return group;
    },
  });
}

function fileIdOf(part: { type: string; url?: string }): string[] {
  const reference = part.url === undefined ? undefined : parseFileUrl(part.url);
  return reference === undefined ? [] : [reference.fileId];
}
