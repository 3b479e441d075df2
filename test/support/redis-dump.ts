import type { Redis } from 'ioredis';

/** A Redis key as plain data from which it can be recreated. */
export interface DumpedKey {
  key: string;
  /** Time to live, ms; absent if the key does not expire. */
  ttl?: number;
  value:
    | { type: 'string'; text: string }
    | { type: 'hash'; fields: Record<string, string> }
    | { type: 'list' | 'set'; items: string[] }
    | { type: 'zset'; scores: [member: string, score: string][] }
    | { type: 'stream'; lastId: string; entries: [id: string, fields: string[]][] };
}

/** Dumps all matching keys in the order of their names; unordered values are sorted. */
export async function dumpKeys(redis: Redis, match: string): Promise<DumpedKey[]> {
  const keys = (await redis.keys(match)).sort();
  return Promise.all(
    keys.map(async (key) => {
      const ttl = await redis.pttl(key);
      return { key, ...(ttl >= 0 && { ttl }), value: await read(redis, key) };
    }),
  );
}

async function read(redis: Redis, key: string): Promise<DumpedKey['value']> {
  const type = await redis.type(key);
  switch (type) {
    case 'hash': {
      const fields = await redis.hgetall(key);
      return { type, fields: Object.fromEntries(Object.entries(fields).sort()) };
    }
    case 'list':
      return { type, items: await redis.lrange(key, 0, -1) };
    case 'set':
      return { type, items: (await redis.smembers(key)).sort() };
    case 'zset': {
      const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES');
      return { type, scores: pairs(flat) };
    }
    case 'stream': {
      const info = (await redis.xinfo('STREAM', key)) as unknown[];
      const lastId = String(info[info.indexOf('last-generated-id') + 1]);
      return { type, lastId, entries: await redis.xrange(key, '-', '+') };
    }
    default:
      return { type: 'string', text: (await redis.get(key)) ?? '' };
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) found.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return found;
}
