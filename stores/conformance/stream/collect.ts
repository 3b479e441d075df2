import type { LogEntry } from '../../../protocol/chunk.js';
import type { StreamManager } from '../../log/stream-manager.js';

/** Everything that an iteration gives, and how it ended. */
export interface Collected<T> {
  readonly items: T[];
  /** Resolves when the iteration has ended; rejects if it broke. */
  readonly done: Promise<void>;
}

/** Reads in the background. @throws Error if there is nothing to read, since there is no such stream */
export function collect<T>(source: AsyncIterable<T> | null): Collected<T> {
  if (source === null) throw new Error('there is no such stream');
  const items: T[] = [];
  const done = (async () => {
    for await (const item of source) items.push(item);
  })();
  // Whoever awaits `done` gets the error; until then it is nobody's.
  done.catch(() => undefined);
  return { items, done };
}

export interface LogFollower {
  readonly entries: LogEntry[];
  stop: () => Promise<void>;
}

/** Follows a log in the background until it is told to stop. */
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
