import type { UIMessage } from 'ai';
import { ownValue } from './objects.js';

/** Returns the time of sending, ms since the epoch; undefined if the page did not set it. Pure. */
export function sentAtOf({ metadata }: UIMessage): number | undefined {
  const sentAt = ownValue(metadata, 'sentAt');
  // Any client may have written the value, and `Date` has a limited range.
  return typeof sentAt === 'number' && !Number.isNaN(new Date(sentAt).getTime())
    ? sentAt
    : undefined;
}

/** Returns the text of a message without its other parts. */
export function textOf(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

export function filesOf(message: UIMessage): string[] {
  return message.parts.flatMap((part) => (part.type === 'file' ? [part.filename ?? 'File'] : []));
}
