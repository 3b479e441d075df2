import type { UIMessage } from 'ai';

/** What this page adds to a message: when it was sent, by its own clock. Pure. */
export function withSentAt(now = Date.now()): { sentAt: number } {
  return { sentAt: now };
}

/** When a message was sent, ms since the epoch; undefined if its page did not say. Pure. */
export function sentAtOf({ metadata }: UIMessage): number | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('sentAt' in metadata)) {
    return undefined;
  }
  const { sentAt } = metadata;
  // Anybody may have written it; a date has an end.
  return typeof sentAt === 'number' && !Number.isNaN(new Date(sentAt).getTime())
    ? sentAt
    : undefined;
}

/** The text of a message, without its other parts. */
export function textOf(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** What its files are called. */
export function filesOf(message: UIMessage): string[] {
  return message.parts.flatMap((part) => (part.type === 'file' ? [part.filename ?? 'File'] : []));
}
