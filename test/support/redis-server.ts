import { startPrivateRedis } from '../../scripts/engines/private-engines.mjs';
import type { PrivateRedis } from '../../scripts/engines/private-engines.mjs';
import { requireProgram } from './require-program.js';

export type RedisServer = PrivateRedis;

/**
 * A real Redis of the test's own, with the append-only file on. Without `dir` it lives in a folder
 * that `close` removes; `stop`, `kill9` and `restart` keep its data, to the last command that was
 * answered.
 */
export function startRedis(options: { dir?: string; port?: number } = {}): Promise<RedisServer> {
  return startPrivateRedis({
    file: requireProgram('REDIS_SERVER_PATH'),
    folder: options.dir,
    port: options.port,
    // What is answered is in the file. `everysec` keeps writes back while a disk syncs slowly.
    appendfsync: 'no',
  });
}
