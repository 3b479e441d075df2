import type { ControlMessage } from './control-message.js';

/** No imports of values, so that browsers can use it. */
const CONTROL_TYPES: ReadonlySet<string> = new Set([
  'stream_end',
  'stream_status',
  'stream_truncated',
] satisfies ControlMessage['type'][]);

export function isControlMessage(message: { type: string }): message is ControlMessage {
  return CONTROL_TYPES.has(message.type);
}
