import type { RedisConnection } from './clients.js';
import { mastersOf } from './masters.js';
import { parseServerInfo, type ServerInfo } from './server-info.js';

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
    mastersOf(redis).map(async (node) => parseServerInfo(await node.info())),
  );
  return {
    version: [...new Set(found.map(({ version }) => version))].join(', '),
    warnings: [...new Set(found.flatMap(warningsOf))],
  };
}

/** What is wrong with a master, and what to set; `doctor` says more. Pure. */
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
