import type { StreamMessage } from '../../../protocol/chunk.js';
import type { TruncateOptions, TruncateResult } from '../../contract/log.js';
import { fromJson } from '../json.js';
import { removeEntries, writeControl } from '../log.js';
import type { MemorySession } from '../session.js';

/** Removes chunks of steps above a bound and tells attached readers. */
export function truncate(
  { id, log }: MemorySession,
  step: number,
  { minSequence = 0, agentId }: TruncateOptions,
  now: number,
): TruncateResult {
  const atSequence = log.sequence;
  const removed = removeEntries(log, minSequence, ({ message }) => {
    const chunk = fromJson(message);
    return isAbove(chunk, step) && (agentId === undefined || chunk.agentId === agentId);
  });
  const lastRemoved = removed.at(-1) ?? 0;
  if (removed.length > 0) {
    writeControl(log, {
      type: 'stream_truncated',
      streamId: id,
      timestamp: now,
      truncatedAtStep: step,
      atSequence,
      lastRemoved,
    });
  }
  return { removed: removed.length, atSequence, lastRemoved };
}

/** Control messages belong to no step. */
function isAbove(
  message: StreamMessage,
  step: number,
): message is Extract<StreamMessage, { step: number }> {
  return 'step' in message && message.step > step;
}
