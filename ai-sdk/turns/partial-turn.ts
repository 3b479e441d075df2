import { readUIMessageStream } from 'ai';
import type { UIMessageChunk } from 'ai';
import type { SessionView } from '../../stores/contract/sessions.js';
import type { StagedChanges } from '../../stores/contract/staging.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { toMessageEvents } from '../parts/message-events.js';
import { replayRange } from './replay-range.js';
import { StreamTransformer } from '../parts/stream-transformer.js';
import { findTurnOrigin, isBeyond } from './turn-origin.js';
import type { UIMessage } from '../parts/ui-message.js';

/** An active turn at the sequence of a view. */
export interface PartialTurn {
  /** The message, as a client would have it; undefined before its first part. */
  message?: UIMessage;
  /** Its changes of the agent's state; undefined if part of its log is gone. */
  changes?: StagedChanges[];
}

/** Reads the active turn up to the view's sequence and no further. */
export async function readPartialTurn(
  streamManager: Pick<StreamManager, 'read'>,
  view: SessionView,
): Promise<PartialTurn> {
  const { record, openCalls } = view;
  const waiting = new Set(
    openCalls.filter(({ state }) => state === 'waiting').map(({ spec }) => spec.toolCallId),
  );
  const withheld = new Set(
    openCalls.filter(({ mayDecide }) => mayDecide === false).map(({ spec }) => spec.toolCallId),
  );
  const { sessionId, sequence } = record;
  const { from, stored } = await findTurnOrigin(streamManager, view);
  const transformer = new StreamTransformer({
    generateMessageId: () => record.messageId,
    agentId: sessionId,
    isTail: stored !== undefined,
    isAnswered: (toolCallId) => !waiting.has(toolCallId),
    isWithheld: (toolCallId) => withheld.has(toolCallId),
  });
  const changes: StagedChanges[] = [];
  const events = transformer.start();
  if (stored !== undefined) events.push(...toMessageEvents(stored.message, 'common'));
  for await (const entries of replayRange(streamManager, sessionId, from, sequence)) {
    for (const entry of entries) {
      if (stored !== undefined && !isBeyond(stored, entry)) continue;
      const { message } = entry;
      if (message.type === 'state_patch' && message.agentId === sessionId) {
        changes.push({ toolCallId: '', patches: message.patches, timestamp: message.timestamp });
      }
      events.push(...transformer.transform(entry).events);
    }
  }
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const event of events) controller.enqueue(event);
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream })) message = state as UIMessage;
  return {
    message: (message?.parts.length ?? 0) > 0 ? message : undefined,
    changes: stored === undefined ? changes : undefined,
  };
}
