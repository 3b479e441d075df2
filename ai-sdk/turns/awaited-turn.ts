import type { StreamManager } from '../../store/log/stream-manager.js';
import type { Store } from '../../store/contract/store.js';
import { formatSse, SSE_DONE } from '../parts/sse.js';
import { createTurnFrames, toBroken } from './turn-frames.js';
import { StreamBrokenError } from '../parts/errors.js';
import type { TurnReader } from './turn-progress.js';

export interface AwaitedTurnDeps {
  stateStore: Pick<Store, 'sessions'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
}

/** Accepted messages whose turn has not begun. */
export interface AwaitedTurn {
  sessionId: string;
  messageIds: readonly string[];
  /** The turn begins after this sequence. */
  after: number;
}

/** An SSE comment with which the response begins at once; clients skip it. */
const WAITING = ': waiting\n\n';

/**
 * Yields the SSE frames of a turn that has not begun yet, without those of earlier turns. If the
 * messages are removed from the queue, the response ends without a message.
 *
 * @throws StreamBrokenError if the log breaks off, and errors of `createTurnFrames`
 */
export async function* createAwaitedFrames(
  deps: AwaitedTurnDeps,
  awaited: AwaitedTurn,
  reader: TurnReader,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  yield WAITING;
  const beginning = await untilBegun(deps, awaited, signal).catch((error: unknown) => {
    throw toBroken(error, awaited.after);
  });
  if (signal.aborted) return;
  if (beginning === undefined) {
    yield formatSse({ type: 'finish', finishReason: 'other' }) + SSE_DONE;
    return;
  }
  const { sessionId } = awaited;
  const { messageId, sequence } = beginning;
  const until = { kind: 'live', after: sequence } as const;
  const span = { sessionId, messageId, from: sequence - 1, until, isTail: false, ...reader };
  yield* createTurnFrames(deps.streamManager, span, signal);
}

/** Returns undefined if the messages will not be answered. */
async function untilBegun(
  { stateStore, streamManager }: AwaitedTurnDeps,
  { sessionId, messageIds, after }: AwaitedTurn,
  signal: AbortSignal,
): Promise<{ messageId: string; sequence: number } | undefined> {
  const areMeant = (ids: readonly string[] = []): boolean =>
    ids.some((id) => messageIds.includes(id));
  for await (const entries of streamManager.follow(sessionId, after, signal)) {
    for (const { sequence, message } of entries) {
      if (message.type === 'turn_started' && areMeant(message.messageIds)) {
        return { messageId: message.messageId, sequence };
      }
      if (message.type === 'queue_changed' && areMeant(message.removed)) return undefined;
      // Either the earlier run or the whole session has ended.
      if (
        message.type === 'stream_end' &&
        (await stateStore.sessions.read(sessionId)) === undefined
      ) {
        return undefined;
      }
    }
  }
  if (signal.aborted) return undefined;
  throw new StreamBrokenError('the log broke off');
}
