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
export async function startProduct(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
): Promise<Product> {
  const worker = startWorker(servers, taskQueue, settings);
  try {
    const api = await startApi(servers, taskQueue, settings);
    const stop = async (): Promise<void> => {
      await Promise.all([worker.stop(), api.stop()]);
    };
    return { worker, api, port: api.port, stop };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

/** A worker process of its own. */
export function startWorker(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
): Child {
  const env = { ...toEnvironment(servers, taskQueue), ...settings };
  return startChild('worker/main.js', { env, nodeArgs: ['--max-semi-space-size=64'] });
}

/** The product as `npm start` runs it, with its supervisor, on servers that run already. */
export interface Supervised {
  port: number;
  stop: () => Promise<void>;
}

/** Its data folder holds a lock and nothing else. */
export async function startSupervised(
  servers: Servers,
  taskQueue: string,
  dataFolder: string,
): Promise<Supervised> {
  const port = await freePort();
  const env = {
    ...toEnvironment(servers, taskQueue),
    PORT: String(port),
    DATA_DIR: dataFolder,
  };
  const { stop } = startChild('../scripts/start.mjs', { env });
  try {
    await untilReady(`http://127.0.0.1:${String(port)}/readyz`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

/** An API process of its own; ready once a worker polls that task queue. */
export async function startApi(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
): Promise<Child & { port: number }> {
  const port = await freePort();
  const env = { ...toEnvironment(servers, taskQueue), ...settings, PORT: String(port) };
  const api = startChild('api/main.js', { env });
  try {
    await untilReady(`http://127.0.0.1:${String(port)}/readyz`);
  } catch (error) {
    await api.stop();
    throw error;
  }
  return { ...api, port };
}

function toEnvironment(servers: Servers, taskQueue: string): Record<string, string> {
  return {
    REDIS_URL: servers.redisUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TASK_QUEUE: taskQueue,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'error',
  };
}

/** Resolves when an API is ready. */
export async function untilReady(url: string): Promise<void> {
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

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
