import type { PostedMessage } from '../protocol/http.js';

/** Parts of the newest step of a posted message. */
export function toLastStep(
  message: PostedMessage | undefined,
): NonNullable<PostedMessage['parts']> {
  const parts = message?.parts ?? [];
  return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
}
