// Starts engines for one test run or measurement, on free ports and in folders of their own. They can be
// stopped, killed and restarted with their data.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimAnyPort } from '../system/ports.mjs';
import { createEngine } from './engine-process.mjs';
import { isRedisReady, redisArguments } from './redis.mjs';
import { isTemporalReady, temporalArguments } from './temporal-server.mjs';

// Another process may take the free port first; then the start is tried on another one.
const PORT_TRIES = 3;

export function startPrivateRedis({ file, folder, port, ...settings }) {
  return startPrivate('redis', { folder, port }, (engine) => ({
    file,
    args: redisArguments({ ...engine, ...settings }),
    isReady: () => isRedisReady(engine),
    url: `redis://127.0.0.1:${engine.port}`,
  }));
}

/** @param options.isKept true if data survives a restart; default: true */
export function startPrivateTemporal({
  file,
  folder,
  port,
  namespace,
  dynamicConfig,
  isKept = true,
}) {
  return startPrivate('temporal', { folder, port }, (engine) => ({
    file,
    args: temporalArguments({
      port: engine.port,
      namespace,
      dynamicConfig,
      databaseFile: isKept ? join(engine.folder, 'temporal.db') : undefined,
    }),
    isReady: () => isTemporalReady({ port: engine.port, namespace }),
    address: `127.0.0.1:${engine.port}`,
  }));
}

/** @param describe returns `file`, `args` and `isReady` of the engine for a folder and port, and what else is known of it */
export async function startPrivate(name, { folder: givenFolder, port: givenPort }, describe) {
  const folder = givenFolder ?? mkdtempSync(join(tmpdir(), `helix-${name}-`));
  mkdirSync(folder, { recursive: true });
  for (let tries = 1; ; tries += 1) {
    const port = givenPort ?? (await claimAnyPort());
    const { file, args, isReady, ...where } = describe({ folder, port });
    const engine = createEngine({ name, file, args, isReady, folder });
    try {
      await engine.restart();
      return Object.assign(engine, where, {
        port,
        folder,
        /** Stops the engine and deletes its data, unless the folder was given. */
        async close() {
          await engine.stop();
          if (!givenFolder) rmSync(folder, { recursive: true, force: true });
        },
      });
    } catch (error) {
      await engine.kill9();
      if (givenPort || tries === PORT_TRIES) throw error;
    }
  }
}
