import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimAnyPort } from '../../scripts/system/ports.mjs';
import { filesIn, tlsArguments, type RedisCertificate } from './redis-certificate.js';
import { dataArguments, startRedisProcess, type RedisProcess } from './redis-process.js';
import { until } from './until.js';

/** A master and its replica on loopback, with a Sentinel that fails over automatically. */
export interface SentinelPair {
  readonly url: string;
  readonly master: RedisProcess;
  readonly replica: RedisProcess;
  close: () => Promise<void>;
}

const NAME = 'main';

/** @param tls if set, clients, servers and the Sentinel speak TLS */
export async function startSentinelPair(tls?: RedisCertificate): Promise<SentinelPair> {
  const [masterPort, replicaPort, sentinelPort] = await Promise.all(
    [1, 2, 3].map(async () => (tls ? claimAnyPort() : undefined)),
  );
  const master = await startRedisProcess((where) => replicated(where, tls, masterPort));
  const started = [master];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((process) => process.close()));
  };
  try {
    const replica = await startRedisProcess((where) => [
      ...replicated(where, tls, replicaPort),
      '--replicaof',
      '127.0.0.1',
      String(masterPort ?? master.port),
    ]);
    started.push(replica);
    await until('the replica follows', () =>
      master.ask(async (redis) => (await redis.info('replication')).includes('state=online')),
    );
    const sentinel = await startSentinel(masterPort ?? master.port, tls, sentinelPort);
    started.push(sentinel);
    await until('the Sentinel knows the replica', () =>
      sentinel.ask(async (redis) => {
        const replicas = (await redis.call('SENTINEL', 'REPLICAS', NAME)) as unknown[];
        return replicas.length === 1;
      }),
    );
    return {
      url: tls
        ? `rediss-sentinel://127.0.0.1:${String(sentinelPort)}/${NAME}${filesIn(tls)}`
        : `redis-sentinel://127.0.0.1:${String(sentinel.port)}/${NAME}`,
      master,
      replica,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function replicated(
  where: { port: number; folder: string },
  tls: RedisCertificate | undefined,
  tlsPort: number | undefined,
): string[] {
  return [
    ...dataArguments(where),
    '--repl-diskless-sync-delay',
    '0',
    ...(tls && tlsPort ? tlsArguments(tls, tlsPort) : []),
  ];
}

async function startSentinel(
  masterPort: number,
  tls: RedisCertificate | undefined,
  tlsPort: number | undefined,
): Promise<RedisProcess> {
  const sentinel = await startRedisProcess(({ port, folder }) => [
    writeSentinelFile(folder),
    '--sentinel',
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    ...(tls && tlsPort ? tlsArguments(tls, tlsPort) : []),
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

/** Writes the Sentinel's file. Sentinel stores its state there and does not start without one. */
function writeSentinelFile(folder: string): string {
  const file = join(folder, 'sentinel.conf');
  writeFileSync(file, '');
  return file;
}
