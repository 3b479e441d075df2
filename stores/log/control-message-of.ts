import type { ControlMessage } from '../../protocol/control-message.js';
import type { StreamMark } from '../contract/log.js';

/** The control message that readers get when the status of a stream changes. */
export function toControlMessage(streamId: string, mark: StreamMark, now: number): ControlMessage {
  const base = { streamId, timestamp: now };
  switch (mark.status) {
    case 'ended':
      return {
        type: 'stream_end',
        ...base,
        status: 'completed',
        finalOutput: mark.finalOutput,
      };
    case 'failed':
      return { type: 'stream_end', ...base, status: 'failed', error: mark.error };
    default:
      return { type: 'stream_status', ...base, status: mark.status };
  }
}
