import { parseOwner } from './charged.js';
import { type RedisConnection } from './clients.js';
import { mastersOf } from './pulse.js';
import type { RedisContext } from './context.js';

/** Facts about one server on which durability depends. */
export interface ServerInfo {
  version: string;
  /** A replica refuses writes. */
  isReplica: boolean;
  hasAppendOnlyFile: boolean;
  /** False if the last write to that file failed, for instance on a full disk. */
  isFileWritten: boolean;
  maxmemoryPolicy: string;
  /** Bytes; 0 means no limit. */
  maxmemory: number;
  usedMemory: number;
  /** Keys that were evicted since the server started. */
  evictedKeys: number;
}

/** Reads the reply of INFO. */
export function parseServerInfo(info: string): ServerInfo {
  const field = (name: string): string =>
    new RegExp(`^${name}:(.*)\\r?$`, 'm').exec(info)?.[1]?.trim() ?? '';
  return {
    version: field('redis_version'),
    isReplica: field('role') === 'slave',
    hasAppendOnlyFile: field('aof_enabled') === '1',
    isFileWritten: field('aof_last_write_status') !== 'err',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemory: Number(field('maxmemory')),
    usedMemory: Number(field('used_memory')),
    evictedKeys: Number(field('evicted_keys')),
  };
}

export interface RedisSettings {
  version: string;
  /** Sentences for the log about settings that may lose data. */
  warnings: string[];
}

/**
 * Reads the settings on which durability depends from every master (`noeviction`, an append-only file), and checks that
 * its conversations have this layout.
 */
export async function readRedisSettings(
  redis: RedisConnection,
  context: Pick<RedisContext, 'redis' | 'keys'>,
): Promise<RedisSettings> {
  const found = await Promise.all(
    mastersOf(redis).map(async (node) => parseServerInfo(await node.info())),
  );
  return {
    version: [...new Set(found.map(({ version }) => version))].join(', '),
    warnings: [...new Set(found.flatMap(warningsOf)), ...(await earlierData(context))],
  };
}

/** Warns about conversations of an earlier build. One conversation represents all. */
async function earlierData({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): Promise<string[]> {
  const first = async (list: string): Promise<string | undefined> =>
    (await redis.zrangebyscore(list, '-inf', '+inf', 'LIMIT', 0, 1))[0];
  const owner = await first(keys.ownersIndex);
  const sessionId = owner && (await first(keys.owner(parseOwner(owner)).sessions));
  if (sessionId === undefined) return [];
  const status = await redis.hget(keys.session(sessionId).root, 'status');
  if (status === null) return [];
  return [
    'The conversations in this Redis were made by an earlier build and cannot be read: use another database or prefix, or delete them.',
  ];
}

/** Returns the problems of a master, with the settings that solve them; `doctor` says more. Pure. */
export function warningsOf({ version, hasAppendOnlyFile, maxmemoryPolicy }: ServerInfo): string[] {
  const warnings: string[] = [];
  if (!hasAppendOnlyFile) {
    warnings.push(
      'Redis runs without an append-only file: a restart loses conversations. Set appendonly yes.',
    );
  }
  if (maxmemoryPolicy !== 'noeviction') {
    warnings.push(
      `Redis evicts keys when it is full (maxmemory-policy ${maxmemoryPolicy}): conversations get lost. Set maxmemory-policy noeviction.`,
    );
  }
  if (Number.parseInt(version, 10) < 7) {
    warnings.push(`Redis ${version} has no sharded Pub/Sub. Upgrade it to 7.0 or newer.`);
  }
  return warnings;
}
