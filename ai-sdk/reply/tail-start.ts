import type { PostedMessage } from '../../protocol/http.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { replayRange } from '../turns/replay-range.js';
import type { KnownSession } from './classify.js';

/**
 * Sequence behind which a page that has answered continues: the newest pause, as a rule. Where tools
 * slept beside the question, they may have ended since: a page whose copy shows their calls open has
 * seen nothing behind the pause that asked.
 */
export async function findTailStart(
  log: Pick<StreamManager, 'read'>,
  { record, openCalls = [] }: KnownSession,
  answered: readonly string[],
  copy: PostedMessage | undefined,
): Promise<number> {
  const newest = record.stream === 'paused' ? record.pauseSequence : record.sequence;
  const asked = openCalls.flatMap(({ spec, askedAt }) =>
    askedAt !== undefined && answered.includes(spec.toolCallId) ? askedAt : [],
  );
  const first = Math.min(newest, ...asked);
  if (first === newest) return newest;
  const open = new Set<unknown>();
  for (const { state, toolCallId } of (copy?.parts ?? []) as Record<string, unknown>[]) {
    if (state === 'input-available') open.add(toolCallId);
  }
  for await (const entries of replayRange(log, record.sessionId, first, newest)) {
    for (const { message } of entries) {
      if (message.type === 'tool_end' && open.has(message.toolCallId)) return first;
    }
  }
  return newest;
}
