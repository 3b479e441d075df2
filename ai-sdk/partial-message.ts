import { readUIMessageStream } from 'ai';
import type { UIMessageChunk } from 'ai';
import { LIMITS } from '../protocol/limits.js';
import type { SessionView } from '../stores/session-store.js';
import type { StreamManager } from '../stores/stream-manager.js';
import { StreamTransformer } from './stream-transformer.js';
import type { UIMessage } from './ui-message.js';

/** The message that a run is working on, as a client would have it now; undefined before its first part. */
export async function readPartialMessage(
  streamManager: Pick<StreamManager, 'read'>,
  { record, openCalls }: SessionView,
): Promise<UIMessage | undefined> {
  const waiting = new Set(
    openCalls.filter(({ state }) => state === 'waiting').map(({ spec }) => spec.toolCallId),
  );
  const transformer = new StreamTransformer({
    generateMessageId: () => record.messageId,
    agentId: record.sessionId,
    isAnswered: (toolCallId) => !waiting.has(toolCallId),
  });
  const events = transformer.start();
  for (let cursor = record.turnStartSequence; cursor < record.sequence;) {
    const page = await streamManager.read(record.sessionId, cursor, LIMITS.replayPage);
    const last = page.at(-1);
    if (last === undefined) break;
    cursor = last.sequence;
    for (const entry of page) events.push(...transformer.transform(entry).events);
  }
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const event of events) controller.enqueue(event);
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream })) message = state as UIMessage;
  return message === undefined || message.parts.length === 0 ? undefined : message;
}
