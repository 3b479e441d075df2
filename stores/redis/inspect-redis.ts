import type { ClockReading } from '../../protocol/clock.js';
import { HelixError } from '../../protocol/errors.js';
import { withTimeout } from '../../protocol/time.js';
import { closeClient, type RedisConnection } from './clients.js';
import { connectCommands } from './connection.js';
import { createConversations } from './context.js';
import { callRedis } from './errors.js';
import { createKeySpace } from './keys.js';
import { mastersOf } from './masters.js';
import { rightsFor } from './rights.js';
import { createEvaluate } from './send.js';
import { parseServerInfo, type ServerInfo } from './server-info.js';

/** What a look at a Redis found. */
export interface RedisFacts {
  /** Every master. */
  servers: ServerInfo[];
  clock: ClockReading;
  /** Why a change would be refused, as a missing right; absent if it would not. */
  refusal?: string;
}

const CONNECT_MS = 5_000;

/**
 * Looks at a Redis with the credentials and commands of the stores, and changes no record.
 *
 * @throws Error with the reason if it cannot be reached, or refuses these credentials
 */
export async function inspectRedis(url: string): Promise<RedisFacts> {
  const redis = connectCommands(url, 'refuse');
  try {
    await connect(redis);
    const servers = await callRedis(
      Promise.all(mastersOf(redis).map(async (node) => parseServerInfo(await node.info()))),
    );
    return { servers, clock: await readClock(redis), refusal: await findRefusal(redis) };
  } finally {
    closeClient(redis);
  }
}

/** The client tries again and again; the first reason is the one to know. */
async function connect(redis: RedisConnection): Promise<void> {
  const failed = new Promise<never>((_, reject) => {
    redis.once('error', reject);
  });
  const ready = new Promise<void>((resolve) => {
    redis.once('ready', () => {
      resolve();
    });
  });
  redis.connect().catch(() => undefined);
  await withTimeout(CONNECT_MS, Promise.race([ready, failed]));
}

async function readClock(redis: RedisConnection): Promise<ClockReading> {
  const askedAt = Date.now();
  const [seconds, microseconds] = await callRedis(redis.time());
  const repliedAt = Date.now();
  return { at: Number(seconds) * 1_000 + Number(microseconds) / 1_000, askedAt, repliedAt };
}

/** Reads a session that does not exist: the rights of all commands are checked before. */
async function findRefusal(redis: RedisConnection): Promise<string | undefined> {
  const keys = createKeySpace();
  const evaluate = createEvaluate(redis, { rights: rightsFor(keys) });
  const { look } = createConversations({ evaluate }, keys);
  try {
    await look('doctor', () => undefined);
    return undefined;
  } catch (error) {
    if (HelixError.isInstance(error) && error.code === 'unavailable') return error.message;
    throw error;
  }
}
