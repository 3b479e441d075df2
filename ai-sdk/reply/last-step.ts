import type { PostedMessage } from '../../protocol/http.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';

/** Parts of the newest step of a posted message. */
export function toLastStep(
  message: PostedMessage | undefined,
): NonNullable<PostedMessage['parts']> {
  const parts = message?.parts ?? [];
  return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
}

/** True for a beginning of the newest reply, posted by a page that lost the connection to the rest. */
export function isCutShort(
  { messageId, stream }: Pick<SessionRecord, 'messageId' | 'stream'>,
  posted: PostedMessage | undefined,
): boolean {
  if (posted?.role !== 'assistant' || posted.id !== messageId) return false;
  return stream === 'active' || toLastStep(posted).some(isStreaming);
}

function isStreaming({ state }: Record<string, unknown>): boolean {
  return state === 'streaming' || state === 'input-streaming';
}
