import type { Cluster, Redis } from 'ioredis';
import type { LogEntry } from '../../protocol/chunk.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

export interface Follower {
  readonly entries: LogEntry[];
  /** Resolves when the iteration has ended; rejects if it broke. */
  ended: Promise<void>;
  /** Ends the iteration, then settles as `ended`. */
  stop: () => Promise<void>;
}

export function startFollower(
  streamManager: StreamManager,
  sessionId: string,
  fromSequence: number,
): Follower {
  const entries: LogEntry[] = [];
  const controller = new AbortController();
  const following = (async () => {
    for await (const page of streamManager.follow(sessionId, fromSequence, controller.signal)) {
      entries.push(...page);
    }
  })();
  following.catch(() => undefined);
  return {
    entries,
    ended: following,
    stop: () => {
      controller.abort();
      return following;
    },
  };
}

/** Returns the number of connections that have subscribed to a channel of a session's. */
export async function countSubscribers(
  redis: Redis | Cluster,
  sessionId: string,
  channel = 'channel',
): Promise<number> {
  const counts = await redis.call('PUBSUB', 'SHARDNUMSUB', `hx:{${sessionId}}:${channel}`);
  return Number((counts as unknown[])[1]);
}
