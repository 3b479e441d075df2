import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { sleep } from '../clock.js';
import { startChild, type Child } from './child.js';

const READY_WITHIN_MS = 30_000;

/** Servers that a measurement runs on. */
export interface Servers {
  redisUrl: string;
  temporalAddress: string;
}

/** The product's own processes, one of each. */
export interface Product {
  worker: Child;
  api: Child;
  port: number;
  stop: () => Promise<void>;
}

/** Starts worker and api as `npm start` does, and waits until they take requests. */
export async function startProduct(servers: Servers, taskQueue: string): Promise<Product> {
  const port = await freePort();
  const env = {
    REDIS_URL: servers.redisUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TASK_QUEUE: taskQueue,
    PORT: String(port),
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'error',
  };
  const nodeArgs = ['--max-semi-space-size=64'];
  const worker = startChild('worker/main.js', { env, nodeArgs });
  const api = startChild('api/main.js', { env });
  const stop = async (): Promise<void> => {
    await Promise.all([worker.stop(), api.stop()]);
  };
  try {
    await untilReady(`http://127.0.0.1:${String(port)}/readyz`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { worker, api, port, stop };
}

async function untilReady(url: string): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (Date.now() > giveUpAt) throw new Error(`The product is not ready: see ${url}.`);
    await sleep(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
