import { Redis } from 'ioredis';

/** Process id of the Redis server, if it runs on this machine. */
export async function redisPid(url: string): Promise<number | undefined> {
  const redis = new Redis(url);
  try {
    const match = /^process_id:(\d+)/m.exec(await redis.info('server'));
    return match === null ? undefined : Number(match[1]);
  } finally {
    redis.disconnect();
  }
}
