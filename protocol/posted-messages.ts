import { z } from 'zod';
import { LIMITS } from './limits.js';
import { endOfList, listOf } from './list-of.js';

/** A UI message as a client posts it. Its parts are checked where they are used. */
export const PostedMessage = z.object({
  id: z.string().min(1).max(LIMITS.idChars),
  role: z.enum(['user', 'assistant', 'system']),
  parts: listOf(z.looseObject({ type: z.string() }), LIMITS.jsonValues).optional(),
  content: z.string().optional(),
  metadata: z.unknown().optional(),
});
export type PostedMessage = z.infer<typeof PostedMessage>;

/**
 * The end of a posted conversation: the last message that is not the user's, and the user messages
 * after it. Only this is used, so what comes before is neither checked nor copied.
 */
export const PostedTail = endOfList(PostedMessage, {
  max: LIMITS.postedMessages,
  atOnce: LIMITS.newMessages + 1,
  toStart: (messages) => Math.max(0, messages.findLastIndex(isNotUsers)),
});

function isNotUsers(message: unknown): boolean {
  return (message as { role?: unknown } | null)?.role !== 'user';
}
