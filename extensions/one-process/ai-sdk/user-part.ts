import type { toPromptMessages } from '../../../activities/model/prepare-messages.js';
import { HelixError } from '../../../protocol/errors.js';
import type { UserPart } from '../../../protocol/rows.js';

/** A message of the AI SDK in its most explicit form. */
export type PromptMessage = Awaited<ReturnType<typeof toPromptMessages>>[number];

type Content = Extract<PromptMessage, { role: 'user' | 'assistant' }>['content'][number];

/** Returns the provider options of a message or part. */
export function toMarks({ providerOptions }: Pick<PromptMessage, 'providerOptions'>): Marks {
  return providerOptions === undefined ? {} : { providerOptions };
}

type Marks = Pick<UserPart, 'providerOptions'>;

/** @throws HelixError `validation_error` for a file that only its provider has */
export function toUserPart(part: Content): UserPart {
  const marks = toMarks(part);
  if (part.type === 'text') return { type: 'text', text: part.text, ...marks };
  const { data, mediaType, filename } = part as Extract<Content, { type: 'file' }>;
  if (data.type === 'url') {
    return { type: 'file', url: data.url.href, mediaType, filename, ...marks };
  }
  if (data.type !== 'data') {
    const text = `A file of the type "${data.type}" cannot be stored.`;
    throw new HelixError('validation_error', text);
  }
  const base64 =
    typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  const url = `data:${mediaType};base64,${base64}`;
  return { type: 'file', url, mediaType, filename, ...marks };
}
