import type { LogEntry } from '../protocol/chunk.js';
import { formatModelWriter } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { createReplyFold } from '../protocol/reply-fold.js';
import type { AssistantRow } from '../protocol/rows.js';
import type { SessionRecord } from './session-store.js';
import type { StreamManager } from './stream-manager.js';

/**
 * What a step had said when its writer went silent, folded from the log: the text that people saw.
 * Calls are left out, since nobody committed them.
 */
export async function readPartialReply(
  streamManager: Pick<StreamManager, 'read'>,
  record: SessionRecord,
  interrupted: NonNullable<AssistantRow['interrupted']>,
): Promise<AssistantRow | undefined> {
  const step = record.claimedStep;
  if (step <= record.committedStep) return undefined;
  const writer = formatModelWriter(record.sessionId, step);
  const fold = createReplyFold();
  for await (const page of pages(streamManager, record)) {
    for (const entry of page) if (entry.writer === writer) fold.accept(entry.message);
  }
  const parts = fold.parts.filter(({ type }) => type !== 'tool-call');
  if (parts.length === 0) return undefined;
  const { messageId, runId } = record;
  return { role: 'assistant', messageId, runId, step, parts, interrupted };
}

async function* pages(
  streamManager: Pick<StreamManager, 'read'>,
  { sessionId, turnStartSequence }: SessionRecord,
): AsyncGenerator<LogEntry[]> {
  let from = turnStartSequence;
  for (;;) {
    const page = await streamManager.read(sessionId, from, LIMITS.replayPage);
    if (page.length === 0) return;
    yield page;
    from = page[page.length - 1]?.sequence ?? from;
  }
}
