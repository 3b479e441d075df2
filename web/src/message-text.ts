import type { UIMessage } from 'ai';

/** The text of a message, without its other parts. */
export function textOf(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
