import { HelixError } from '../../../protocol/errors.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { LIMITS } from '../../../protocol/limits.js';
import { COMMON_METADATA_KEYS } from '../../../protocol/wire-names.js';
import type { CompletionMessage } from './protocol.js';
import { toDataUrl } from '../data-url.js';
import { toText, type Conversation } from './conversation.js';

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
  const posted = newest.map((message, index): PostedMessage => ({
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

/**
 * Quotes messages as JSON lines, so that no text can pass for another message. The oldest message is cut at
 * its beginning.
 */
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
  throw new HelixError('validation_error', `Content of type "${part.type}" is not taken.`);
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[;,]/;

function toFile(url: unknown, otherwise: string): Part {
  const mediaType = typeof url === 'string' ? (DATA_URL.exec(url)?.[1] ?? otherwise) : otherwise;
  return { type: 'file', url, mediaType };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
