import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { watchOver } from '../../scripts/start/child-process.mjs';
import { claimAnyPort } from '../../scripts/system/ports.mjs';
import { requireProgram } from './require-program.js';
import { until } from './until.js';

/** A Redis process of any kind (cluster node, replica, Sentinel) in its own folder. */
export interface RedisProcess {
  readonly port: number;
  readonly folder: string;
  kill9: () => Promise<void>;
  /** Restarts an ended process on the same port and data. */
  start: () => Promise<void>;
  /** Gives `work` a plain client. */
  ask: <T>(work: (redis: Redis) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export async function startRedisProcess(
  argumentsFor: (where: { port: number; folder: string }) => string[],
): Promise<RedisProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-redis-'));
  const port = await claimAnyPort();
  const logFile = join(folder, 'redis.log');
  const ask: RedisProcess['ask'] = async (work) => {
    const redis = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await work(redis);
    } finally {
      // Disconnecting a client that has ended would delay the tests by two seconds.
      if (redis.status !== 'end') redis.disconnect();
    }
  };
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> = Promise.resolve();
  const kill9 = async (): Promise<void> => {
    child?.kill('SIGKILL');
    await exited;
  };
  const start = async (): Promise<void> => {
    const log = openSync(logFile, 'a');
    child = spawn(requireProgram('REDIS_SERVER_PATH'), argumentsFor({ port, folder }), {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    // A test runner that is killed must not leave servers behind.
    const callOff = child.pid === undefined ? () => undefined : watchOver(child.pid);
    const ended = new Promise((resolve) => {
      child?.once('error', resolve);
      child?.once('exit', resolve);
    });
    exited = ended.then(callOff);
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await until('the Redis process answers', async () => {
      if (hasEnded) throw new Error(`Redis ended:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
      return ask((redis) => redis.ping()).then(
        () => true,
        () => false,
      );
    });
  };
  await start();
  return {
    port,
    folder,
    kill9,
    start,
    ask,
    close: async () => {
      await kill9();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the arguments for every Redis that keeps data. */
export function dataArguments({ port, folder }: { port: number; folder: string }): string[] {
  return [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    // With `no`, an answered command is in the file even if the disk syncs slowly.
    '--appendonly',
    'yes',
    '--appendfsync',
    'no',
    '--save',
    '',
  ];
}
