import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis, type RedisServer } from './redis-server.js';

/** A copy of a Redis's append-only file, as a backup keeps it. */
export interface OlderCopy {
  /**
   * Kills the server and brings it back with the copied file. `meanwhile` meets the restored data
   * at another address, before anybody who waits for the server does.
   */
  restore: (meanwhile?: (url: string) => Promise<void>) => Promise<void>;
}

const FILES = 'appendonlydir';

export function copyData(server: RedisServer): OlderCopy {
  const folder = mkdtempSync(join(tmpdir(), 'helix-copy-'));
  cpSync(join(server.folder, FILES), join(folder, FILES), { recursive: true });
  return {
    restore: async (meanwhile) => {
      await server.kill9();
      rmSync(join(server.folder, FILES), { recursive: true });
      cpSync(join(folder, FILES), join(server.folder, FILES), { recursive: true });
      rmSync(folder, { recursive: true });
      if (meanwhile !== undefined) {
        const elsewhere = await startRedis({ dir: server.folder });
        await meanwhile(elsewhere.url);
        await elsewhere.close();
      }
      await server.restart();
    },
  };
}
