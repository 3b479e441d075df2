import type { RedisConnection } from './clients.js';
import type { Commands, Reads } from './commands.js';
import { isDiscarded } from './errors.js';
import type { Insist } from './refusals.js';

const SINGLE = [
  ...['hgetall', 'hget', 'hset', 'hdel', 'hmget', 'hvals', 'llen', 'lrange'],
  ...['set', 'zadd', 'zrem', 'zrangebyscore'],
] as const;

/** The commands of a connection; what Redis refuses for now is sent again as `insist` says. */
export function commandsOf(redis: RedisConnection, insist: Insist): Commands {
  // Its overloads by option say the same as Commands; a list of options fits none of them.
  const all = redis as unknown as Record<
    (typeof SINGLE)[number],
    (...args: unknown[]) => Promise<unknown>
  >;
  const single = SINGLE.map((name) => [
    name,
    (...args: unknown[]) => insist(() => all[name].apply(redis, args)),
  ]);
  return {
    ...(Object.fromEntries(single) as Omit<Commands, 'together'>),
    together: (add) => insist(() => readTogether(redis, add)),
  };
}

/**
 * A full Redis queues no transaction: then the reads follow each other at once, and little is written
 * between them.
 */
async function readTogether(
  redis: RedisConnection,
  add: (reads: Reads) => unknown,
): Promise<unknown[]> {
  const read = async (reads: Pipeline): Promise<unknown[]> => {
    add(reads);
    return unpack(await reads.exec());
  };
  try {
    return await read(redis.multi());
  } catch (error) {
    if (!isDiscarded(error)) throw error;
    return read(redis.pipeline());
  }
}

interface Pipeline extends Reads {
  exec: () => Promise<[error: Error | null, result: unknown][] | null>;
}

/** The replies, or the first error among them. */
function unpack(replies: [error: Error | null, result: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
