import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimAnyPort } from '../../scripts/system/ports.mjs';
import { redisArguments, type RedisSettings } from '../../scripts/engines/redis.mjs';
import { filesIn, tlsSettings, type RedisCertificate } from './redis-certificate.js';
import { dataArguments, startRedisProcess, type RedisProcess } from './redis-process.js';
import { until } from './until.js';

/** A master and its replica on loopback, with a Sentinel that fails over automatically. */
export interface SentinelPair {
  readonly url: string;
  readonly master: RedisProcess;
  readonly replica: RedisProcess;
  /** Makes the Sentinel promote the replica while its master runs; resolves when it names the new one. */
  failOver: () => Promise<void>;
  /** Makes the Sentinel demand a password of its clients, as `requirepass` does. */
  demand: (password: string) => Promise<void>;
  close: () => Promise<void>;
}

const NAME = 'main';

/** @param tls if set, clients, servers and the Sentinel speak TLS */
export async function startSentinelPair(tls?: RedisCertificate): Promise<SentinelPair> {
  const [masterPort, replicaPort, sentinelPort] = await Promise.all(
    [1, 2, 3].map(async () => (tls ? claimAnyPort() : undefined)),
  );
  const replicated = (tlsPort: number | undefined): RedisSettings => ({
    'repl-diskless-sync-delay': 0,
    ...(tls && tlsPort && tlsSettings(tls, tlsPort)),
  });
  const master = await startRedisProcess((where) => dataArguments(where, replicated(masterPort)));
  const started = [master];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((process) => process.close()));
  };
  try {
    const replicaof = ['127.0.0.1', masterPort ?? master.port];
    const replica = await startRedisProcess((where) =>
      dataArguments(where, { ...replicated(replicaPort), replicaof }),
    );
    started.push(replica);
    await until('the replica follows', () =>
      master.ask(async (redis) => (await redis.info('replication')).includes('state=online')),
    );
    let demanded: string | undefined;
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
      failOver: () =>
        sentinel.ask(async (redis) => {
          // It takes a replica only once it has heard from it.
          await until('the Sentinel begins', () =>
            redis.call('SENTINEL', 'FAILOVER', NAME).then(
              () => true,
              () => false,
            ),
          );
          await until('the Sentinel names the new master', async () => {
            const found = await redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
            return String((found as unknown[])[1]) === String(replicaPort ?? replica.port);
          });
        }, demanded),
      demand: async (password) => {
        await sentinel.ask((redis) => redis.acl('SETUSER', 'default', 'resetpass', `>${password}`));
        demanded = password;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startSentinel(
  masterPort: number,
  tls: RedisCertificate | undefined,
  tlsPort: number | undefined,
): Promise<RedisProcess> {
  const sentinel = await startRedisProcess((where) => {
    // Sentinel stores its state in its file and does not start without one.
    const file = join(where.folder, 'sentinel.conf');
    writeFileSync(file, '');
    const own = { ...where, appendonly: 'no' };
    const settings = { ...own, ...(tls && tlsPort && tlsSettings(tls, tlsPort)) };
    return [file, '--sentinel', ...redisArguments(settings)];
  });
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
