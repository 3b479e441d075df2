import { Redis } from 'ioredis';
import { newNonce } from '../../support/session-driver.js';
import { startProcess, type ProductProcess } from '../../support/process.js';
import { sharedTemporal } from '../../support/product.js';
import { startRedis } from '../../support/redis-server.js';
import { formerRelease } from './former-release.js';

export type Release = 'former' | 'today';

/** An API and a worker of one release. */
export interface Side {
  readonly url: string;
  /** Ends both, as a deployment does. */
  stop: () => Promise<void>;
}

/** One Redis and one task queue, which the processes of two releases share. */
export interface Deployment {
  readonly redis: Redis;
  start: (release: Release) => Promise<Side>;
  close: () => Promise<void>;
}

/** @param more settings of all processes */
export async function startDeployment(more: Record<string, string> = {}): Promise<Deployment> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const started = new Set<ProductProcess>();
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    REDIS_URL: server.url,
    TEMPORAL_ADDRESS: sharedTemporal(),
    TASK_QUEUE: `upgrade-${newNonce()}`,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    DEFAULT_AGENT: 'support',
    ...more,
  };
  const start = async (release: Release): Promise<Side> => {
    const root = release === 'former' ? formerRelease() : undefined;
    const [api, worker] = [startProcess('api', env, root), startProcess('worker', env, root)];
    for (const each of [api, worker]) started.add(each);
    const [line] = await Promise.all([api.says('api listens'), worker.says('worker runs')]);
    return {
      url: `http://127.0.0.1:${String(line['port'])}`,
      stop: async () => {
        for (const each of [api, worker]) started.delete(each);
        await Promise.all([api.stop(), worker.stop()]);
      },
    };
  };
  return {
    redis,
    start,
    close: async () => {
      await Promise.all([...started].map((each) => each.stop()));
      redis.disconnect();
      await server.close();
    },
  };
}
