import type { ControlMessage } from './chunk.js';

/** The end of a stream without detail; identical in every copy of this package. */
export const STREAM_END_SENTINEL = Symbol.for('helix.stream.end');

/** Marks the end of a stream in a queue within one process; never stored or sent. */
export interface StreamEndSentinel {
  __streamEnd: true;
  status: 'ended' | 'failed';
  error?: string;
}

/**
 * Creates a mark for the end of a stream in a queue of chunks.
 *
 * @example
 * import { createStreamEndSentinel, isStreamEndSentinel } from 'helix-temporal';
 *
 * const queue = ['Hello', createStreamEndSentinel('ended')];
 * for (const item of queue) {
 *   if (isStreamEndSentinel(item)) break;
 *   console.log(item);
 * }
 */
export function createStreamEndSentinel(
  status: StreamEndSentinel['status'],
  error?: string,
): StreamEndSentinel {
  return { __streamEnd: true, status, ...(error !== undefined && { error }) };
}

export function isStreamEndSentinel(value: unknown): value is StreamEndSentinel {
  if (typeof value !== 'object' || value === null) return false;
  const { __streamEnd, status } = value as Partial<StreamEndSentinel>;
  return __streamEnd === true && (status === 'ended' || status === 'failed');
}

/** Literals, so that browsers need not load the schemas. */
const CONTROL_TYPES: ReadonlySet<string> = new Set([
  'stream_end',
  'stream_status',
  'stream_truncated',
] satisfies ControlMessage['type'][]);

export function isControlMessage(message: { type: string }): message is ControlMessage {
  return CONTROL_TYPES.has(message.type);
}
