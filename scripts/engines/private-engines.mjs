// Engines for one test run or one measurement: real ones, on a free port, in a folder of their own,
// which can be stopped, killed and started again with their data kept.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchOver } from '../start/watchdog.mjs';
import { waitUntil } from '../start/wait-until.mjs';
import { anyFreePort } from '../system/ports.mjs';
import { lastLines } from '../system/run-command.mjs';
import { isRedisReady, redisArguments } from './redis-server.mjs';
import { isTemporalReady, temporalArguments } from './temporal-server.mjs';

const READY_WITHIN_MS = 30_000;
const GRACE_MS = 5000;
// Another process may take a free port before the engine does; then another one is tried.
const PORT_TRIES = 3;

export function startPrivateRedis({ file, folder, port, appendfsync }) {
  return startPrivate('redis', { folder, port }, (engine) => ({
    file,
    args: redisArguments({ port: engine.port, folder: engine.folder, appendfsync }),
    isReady: () => isRedisReady(engine),
    url: `redis://127.0.0.1:${engine.port}`,
  }));
}

export function startPrivateTemporal({ file, folder, port, namespace, dynamicConfig }) {
  return startPrivate('temporal', { folder, port }, (engine) => ({
    file,
    args: temporalArguments({
      ...{ port: engine.port, namespace, dynamicConfig },
      databaseFile: join(engine.folder, 'temporal.db'),
    }),
    isReady: () => isTemporalReady({ port: engine.port, namespace }),
    address: `127.0.0.1:${engine.port}`,
  }));
}

async function startPrivate(name, { folder: givenFolder, port: givenPort }, describe) {
  const folder = givenFolder ?? mkdtempSync(join(tmpdir(), `helix-${name}-`));
  mkdirSync(folder, { recursive: true });
  for (let tries = 1; ; tries += 1) {
    const port = givenPort ?? (await anyFreePort());
    const { file, args, isReady, ...where } = describe({ folder, port });
    const engine = createEngine({ name, file, args, isReady, folder });
    try {
      await engine.restart();
      return Object.assign(engine, where, {
        port,
        folder,
        /** The end: what it kept goes too, unless the folder was given. */
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

function createEngine({ name, file, args, isReady, folder }) {
  const logFile = join(folder, `${name}.log`);
  let child;
  let exited = Promise.resolve();

  const end = async (signal) => {
    child?.kill(signal);
    const timer = setTimeout(() => child?.kill('SIGKILL'), GRACE_MS);
    await exited;
    clearTimeout(timer);
  };
  return {
    get pid() {
      return child?.pid;
    },
    stop: () => end('SIGTERM'),
    kill9: () => end('SIGKILL'),
    /** Stops it if it runs, and resolves when it answers again. */
    async restart() {
      await end('SIGTERM');
      ({ child, exited } = spawnEngine(file, args, logFile));
      let gone = false;
      void exited.then(() => (gone = true));
      const answered = await waitUntil(() => gone || isReady(), {
        withinMs: READY_WITHIN_MS,
        everyMs: 20,
      });
      if (answered && !gone) return;
      const log = lastLines(readFileSync(logFile, 'utf8'), 8);
      throw new Error(`${name} did not start (${file}):\n${log}`);
    },
  };
}

function spawnEngine(file, args, logFile) {
  const log = openSync(logFile, 'a');
  const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  // A test runner that is killed must not leave servers behind.
  const callOff = child.pid === undefined ? () => {} : watchOver(child.pid);
  const exited = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).then(callOff);
  return { child, exited };
}
