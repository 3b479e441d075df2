import { Redis } from 'ioredis';
import { startPrivate } from '../../scripts/engines/private-engines.mjs';
import { redisArguments, type RedisSettings } from '../../scripts/engines/redis.mjs';
import { requireProgram } from './require-program.js';

/** A Redis process of any kind (cluster node, replica, Sentinel) in its own folder. */
export interface RedisProcess {
  readonly port: number;
  readonly folder: string;
  kill9: () => Promise<void>;
  /** Restarts an ended process on the same port and data. */
  start: () => Promise<void>;
  /** Gives `work` a plain client. */
  ask: <T>(work: (redis: Redis) => Promise<T>, password?: string) => Promise<T>;
  close: () => Promise<void>;
}

interface Where {
  port: number;
  folder: string;
}

export async function startRedisProcess(
  argumentsFor: (where: Where) => string[] = dataArguments,
): Promise<RedisProcess> {
  const engine = await startPrivate('redis', {}, (where) => ({
    file: requireProgram('REDIS_SERVER_PATH'),
    args: argumentsFor(where),
    isReady: () =>
      askAt(where.port, (redis) => redis.ping()).then(
        () => true,
        () => false,
      ),
  }));
  const { port, folder, kill9, restart, close } = engine;
  const ask: RedisProcess['ask'] = (work, password) => askAt(port, work, password);
  return { port, folder, kill9, start: restart, ask, close };
}

async function askAt<T>(
  port: number,
  work: (redis: Redis) => Promise<T>,
  password?: string,
): Promise<T> {
  const options = { port, host: '127.0.0.1', lazyConnect: true, retryStrategy: null, password };
  const redis = new Redis(options);
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    // Disconnecting a client that has ended would delay the tests by two seconds.
    if (redis.status !== 'end') redis.disconnect();
  }
}

/** Returns the arguments of a Redis that keeps data, with more settings of redis.conf. */
export function dataArguments(where: Where, settings: RedisSettings = {}): string[] {
  // With `no`, an answered command is in the file even if the disk syncs slowly.
  return redisArguments({ ...where, appendfsync: 'no', ...settings });
}
