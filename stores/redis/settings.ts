import type { RedisConnection } from './clients.js';
import { mastersOf } from './masters.js';

export interface RedisSettings {
  version: string;
  /** Sentences for the log about settings that may lose data. */
  warnings: string[];
}

/**
 * Reads the settings that durability depends on, on every master: `noeviction` and an append-only
 * file.
 */
export async function readRedisSettings(redis: RedisConnection): Promise<RedisSettings> {
  const found = await Promise.all(
    mastersOf(redis).map(async (node) => readInfo(await node.info())),
  );
  return {
    version: [...new Set(found.map(({ version }) => version))].join(', '),
    warnings: [...new Set(found.flatMap(({ warnings }) => warnings))],
  };
}

function readInfo(info: string): RedisSettings {
  const field = (name: string): string =>
    new RegExp(`^${name}:(.*)\\r?$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const warnings: string[] = [];
  if (field('aof_enabled') !== '1') {
    warnings.push('Redis runs without an append-only file: a restart loses conversations.');
  }
  if (field('maxmemory_policy') !== 'noeviction') {
    warnings.push('Redis may evict keys (maxmemory-policy is not noeviction): runs may be lost.');
  }
  const version = field('redis_version');
  if (Number.parseInt(version, 10) < 7) {
    warnings.push(`Redis ${version} is too old: sharded Pub/Sub needs 7.0 or newer.`);
  }
  return { version, warnings };
}
