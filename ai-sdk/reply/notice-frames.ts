import type { PostedMessage } from '../../protocol/http.js';
import type { FinishReason } from '../../protocol/chunk.js';
import type { RejectedIntent } from './extract-resume-intent.js';
import { toLastStep } from './last-step.js';
import { formatSse, SSE_DONE } from '../parts/sse.js';
import type { UIStreamPart } from '../parts/ui-stream-part.js';

/** A response that adds nothing to the message: the answers were stored, or nothing waits for them. */
export interface Notice {
  /** Of the message that the client continues. */
  messageId: string;
  rejected?: readonly RejectedIntent[];
  /** The client's copy: decides whether it would post again at once. */
  copy: PostedMessage | undefined;
  finishReason: FinishReason;
}

export async function* createNoticeFrames(notice: Notice): AsyncGenerator<string, void, undefined> {
  const events: UIStreamPart[] = [{ type: 'start', messageId: notice.messageId }];
  for (const data of notice.rejected ?? []) {
    events.push({ type: 'data-resume-rejected', data, transient: true });
  }
  if (hasOpenCall(notice.copy)) {
    // A step here would hide the open call from the client, which then never sends its answer.
    events.push({ type: 'message-metadata', messageMetadata: null });
  } else {
    events.push({ type: 'start-step' });
    events.push({ type: 'message-metadata', messageMetadata: {} });
    events.push({ type: 'finish-step' });
  }
  events.push({ type: 'finish', finishReason: notice.finishReason });
  yield await Promise.resolve(events.map((event) => formatSse(event)).join('') + SSE_DONE);
}

const OPEN_STATES = new Set<unknown>(['input-streaming', 'input-available', 'approval-requested']);

function hasOpenCall(message: PostedMessage | undefined): boolean {
  return toLastStep(message).some((part) => OPEN_STATES.has(part['state']));
}
