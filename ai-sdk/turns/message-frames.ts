import type { FinishReason } from '../../protocol/chunk.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import { FrameWriter } from '../parts/frame-writer.js';
import { toMessageEvents } from '../parts/message-events.js';
import { SSE_DONE } from '../parts/sse.js';
import type { UIMessage } from '../parts/ui-message.js';
import type { StreamProfile } from '../parts/ui-stream-part.js';

/** The SSE frames that build a stored message in a client; for turns that rest and whose chunks are gone. */
export async function* createMessageFrames(
  message: UIMessage,
  record: SessionRecord,
  profile: StreamProfile,
): AsyncGenerator<string, void, undefined> {
  const writer = new FrameWriter();
  writer.add({ events: [{ type: 'start', messageId: message.id }] });
  writer.add({ events: toMessageEvents(message, profile), sequence: record.sequence });
  if (record.stream === 'failed' && record.error !== undefined) {
    writer.add({ events: [{ type: 'error', errorText: record.error.message }] });
  }
  writer.add({ events: [{ type: 'finish', finishReason: toFinishReason(record) }] });
  yield await Promise.resolve(writer.take() + SSE_DONE);
}

function toFinishReason({ stream, status }: SessionRecord): FinishReason {
  if (stream === 'paused') return 'tool-calls';
  if (status === 'failed') return 'error';
  return status === 'interrupted' || status === 'aborted' ? 'other' : 'stop';
}
