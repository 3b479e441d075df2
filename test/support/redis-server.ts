import { startPrivateRedis, type PrivateRedis } from '../../scripts/engines/private-engines.mjs';
import { requireProgram } from './require-program.js';

export type RedisServer = PrivateRedis;

/**
 * Starts a Redis for this test, with the append-only file on. Without `dir` it uses a folder that
 * `close` removes. `stop`, `kill9` and `restart` keep its data, including the last answered
 * command.
 */
export function startRedis(options: { dir?: string; port?: number } = {}): Promise<RedisServer> {
  return startPrivateRedis({
    file: requireProgram('REDIS_SERVER_PATH'),
    folder: options.dir,
    port: options.port,
    // Answered commands are in the file. `everysec` would delay writes while a disk syncs slowly.
    appendfsync: 'no',
  });
}
