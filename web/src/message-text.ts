import type { UIMessage } from 'ai';

/** The text of a message, without its other parts. */
export function textOf(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** What its files are called. */
export function filesOf(message: UIMessage): string[] {
  return message.parts.flatMap((part) => (part.type === 'file' ? [part.filename ?? 'File'] : []));
}
