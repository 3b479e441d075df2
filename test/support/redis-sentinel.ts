import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataArguments, startRedisProcess, type RedisProcess } from './redis-process.js';
import { until } from './until.js';

/** A master and its replica on loopback, watched by a Sentinel that fails over automatically. */
export interface SentinelPair {
  readonly url: string;
  readonly master: RedisProcess;
  readonly replica: RedisProcess;
  close: () => Promise<void>;
}

const NAME = 'main';

export async function startSentinelPair(): Promise<SentinelPair> {
  const master = await startRedisProcess(replicated);
  const started = [master];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((process) => process.close()));
  };
  try {
    const replica = await startRedisProcess((where) => [
      ...replicated(where),
      ...['--replicaof', '127.0.0.1', String(master.port)],
    ]);
    started.push(replica);
    await until('the replica follows', () =>
      master.ask(async (redis) => (await redis.info('replication')).includes('state=online')),
    );
    const sentinel = await startSentinel(master.port);
    started.push(sentinel);
    await until('the Sentinel knows the replica', () =>
      sentinel.ask(async (redis) => {
        const replicas = (await redis.call('SENTINEL', 'REPLICAS', NAME)) as unknown[];
        return replicas.length === 1;
      }),
    );
    return {
      url: `redis-sentinel://127.0.0.1:${String(sentinel.port)}/${NAME}`,
      ...{ master, replica, close },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function replicated(where: { port: number; folder: string }): string[] {
  return [...dataArguments(where), '--repl-diskless-sync-delay', '0'];
}

async function startSentinel(masterPort: number): Promise<RedisProcess> {
  const sentinel = await startRedisProcess(({ port, folder }) => [
    writeSentinelFile(folder),
    ...['--sentinel', '--bind', '127.0.0.1', '--port', String(port), '--dir', folder],
  ]);
  await sentinel.ask(async (redis) => {
    await redis.call('SENTINEL', 'MONITOR', NAME, '127.0.0.1', masterPort, 1);
    for (const [name, value] of [
      ['down-after-milliseconds', '500'],
      ['failover-timeout', '3000'],
    ]) {
      await redis.call('SENTINEL', 'SET', NAME, String(name), String(value));
    }
  });
  return sentinel;
}

/** A Sentinel writes what it learns into its file, so it does not start without one. */
function writeSentinelFile(folder: string): string {
  const file = join(folder, 'sentinel.conf');
  writeFileSync(file, '');
  return file;
}
