import type { LogEntry } from '../../../protocol/chunk.js';
import type { StreamManager } from '../../log/stream-manager.js';

/** All items of an iteration, and its end. */
export interface Collected<T> {
  readonly items: T[];
  /** Resolves when the iteration has ended; rejects if it failed. */
  readonly done: Promise<void>;
}

/** Reads in the background. @throws Error if the stream does not exist */
export function collect<T>(source: AsyncIterable<T> | null): Collected<T> {
  if (source === null) throw new Error('the stream does not exist');
  const items: T[] = [];
  const done = (async () => {
    for await (const item of source) items.push(item);
  })();
  // Callers that await `done` get the error; until then it must not be unhandled.
  done.catch(() => undefined);
  return { items, done };
}

export interface LogFollower {
  readonly entries: LogEntry[];
  stop: () => Promise<void>;
}

/** Follows a log in the background until it is stopped. */
export function followLog(
  streamManager: Pick<StreamManager, 'follow'>,
  streamId: string,
  fromSequence = 0,
): LogFollower {
  const entries: LogEntry[] = [];
  const controller = new AbortController();
  const following = (async () => {
    for await (const page of streamManager.follow(streamId, fromSequence, controller.signal)) {
      entries.push(...page);
    }
  })();
  following.catch(() => undefined);
  return {
    entries,
    stop: () => {
      controller.abort();
      return following;
    },
  };
}
