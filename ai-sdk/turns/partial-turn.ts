import { setImmediate } from 'node:timers/promises';
import { consumeStream, createUIMessageStream } from 'ai';
import type { LogEntry } from '../../protocol/chunk.js';
import type { SessionView, SessionRecord } from '../../store/contract/sessions.js';
import type { StagedChanges, CustomState } from '../../store/contract/documents.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { toMessageEvents } from '../parts/message-events.js';
import { replayRange } from './replay-range.js';
import { findTurnOrigin, isBeyond } from './turn-origin.js';
import { createTransformer, toTurnSpan } from './turn-progress.js';
import type { UIMessage } from '../parts/ui-message.js';
import type { UIStreamPart } from '../parts/ui-stream-part.js';
import type { Store } from '../../store/contract/store.js';
import { fitChanges } from '../../store/record/apply-changes.js';

/** An active turn at the sequence of a view. */
export interface PartialTurn {
  /** The message as a client would have built it; absent before its first part. */
  message?: UIMessage;
  /** The turn's changes of the agent's state; absent if part of its log is gone. */
  changes?: StagedChanges[];
}

/** Reads the active turn up to the view's sequence and no further. */
export async function readPartialTurn(
  streamManager: Pick<StreamManager, 'read'>,
  view: SessionView,
): Promise<PartialTurn> {
  const { sessionId, sequence } = view.record;
  const { from, stored } = await findTurnOrigin(streamManager, view);
  const span = { ...toTurnSpan(view, { profile: 'common' }), isTail: stored !== undefined };
  const transformer = createTransformer(span);
  const changes: StagedChanges[] = [];
  const events = transformer.start();
  if (stored !== undefined) events.push(...toMessageEvents(stored.message, 'common'));
  for await (const entries of replayRange(streamManager, sessionId, from, sequence)) {
    const news = stored === undefined ? entries : entries.filter((e) => isBeyond(stored, e));
    changes.push(...toChanges(sessionId, news));
    for (const entry of news) events.push(...transformer.transform(entry).events);
  }
  const message = await toMessage(events);
  return {
    message: (message?.parts.length ?? 0) > 0 ? message : undefined,
    changes: stored === undefined ? changes : undefined,
  };
}

/** Parts that are taken before other requests get their turn. */
const AT_ONCE = 500;

/** Builds a message as a client does. `readUIMessageStream` would copy the whole message for each part. */
async function toMessage(events: readonly UIStreamPart[]): Promise<UIMessage | undefined> {
  let message: UIMessage | undefined;
  const stream = createUIMessageStream({
    execute: async ({ writer }) => {
      for (const [at, event] of events.entries()) {
        writer.write(event);
        if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
      }
    },
    onEnd: ({ responseMessage }) => {
      message = responseMessage as UIMessage;
    },
  });
  await consumeStream({ stream });
  return message;
}

interface StateDeps {
  stateStore: { documents: Pick<Store['documents'], 'readState'> };
  streamManager: Pick<StreamManager, 'read'>;
}

/**
 * Returns the agent's state before the newest turn's entries after `after`, so that a client
 * applies each patch once. Outside that turn it is the newest state; undefined if there is none.
 */
export async function readStateAt(
  { stateStore, streamManager }: StateDeps,
  { sessionId, stateVersion, turnStartSequence }: SessionRecord,
  after = -1,
): Promise<CustomState | undefined> {
  if (stateVersion === 0) return undefined;
  const isInTurn = after >= turnStartSequence;
  const { customState } = await stateStore.documents.readState(
    sessionId,
    isInTurn ? 'turn' : 'now',
  );
  if (!isInTurn) return customState;
  const changes: StagedChanges[] = [];
  for await (const entries of replayRange(streamManager, sessionId, turnStartSequence, after)) {
    changes.push(...toChanges(sessionId, entries));
  }
  return fitChanges(customState, changes);
}

/** Collects the changes of the agent's own state from the entries. */
function toChanges(sessionId: string, entries: readonly LogEntry[]): StagedChanges[] {
  return entries.flatMap(({ message }) =>
    message.type === 'state_patch' && message.agentId === sessionId
      ? [{ toolCallId: '', patches: message.patches, timestamp: message.timestamp }]
      : [],
  );
}
