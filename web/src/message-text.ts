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
