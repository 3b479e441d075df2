import type { RedisConnection } from './clients.js';
import { mastersOf } from './masters.js';
import { parseServerInfo } from './server-info.js';

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
  const { version, hasAppendOnlyFile, maxmemoryPolicy } = parseServerInfo(info);
  const warnings: string[] = [];
  if (!hasAppendOnlyFile) {
    warnings.push('Redis runs without an append-only file: a restart loses conversations.');
  }
  if (maxmemoryPolicy !== 'noeviction') {
    warnings.push('Redis may evict keys (maxmemory-policy is not noeviction): runs may be lost.');
  }
  if (Number.parseInt(version, 10) < 7) {
    warnings.push(`Redis ${version} is too old: sharded Pub/Sub needs 7.0 or newer.`);
  }
  return { version, warnings };
}
