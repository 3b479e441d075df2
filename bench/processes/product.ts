import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { untilFound } from '../clock.js';
import { startChild } from './child.js';

const READY_WITHIN_MS = 30_000;

/** Servers of a measurement. */
export interface Servers {
  redisUrl: string;
  temporalAddress: string;
}

/** The product's processes, one of each. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

/** Starts worker and api as `npm start` does, and waits until they take requests. */
export async function startProduct(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
) {
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

export function startWorker(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
) {
  const env = { ...toEnvironment(servers, taskQueue), ...settings };
  return startChild('worker/main.js', { env, nodeArgs: ['--max-semi-space-size=64'] });
}

/** Runs the product under `npm start`'s supervisor, on existing servers. Its data folder holds only a lock. */
export function startSupervised(servers: Servers, taskQueue: string, dataFolder: string) {
  const env = { ...toEnvironment(servers, taskQueue), DATA_DIR: dataFolder };
  return startReady('../scripts/start.mjs', env);
}

/** Starts an API; it is ready once a worker polls that task queue. */
export function startApi(
  servers: Servers,
  taskQueue: string,
  settings: Record<string, string> = {},
) {
  return startReady('api/main.js', { ...toEnvironment(servers, taskQueue), ...settings });
}

async function startReady(file: string, settings: Record<string, string>) {
  const port = await freePort();
  const child = startChild(file, { env: { ...settings, PORT: String(port) } });
  try {
    await untilReady(port);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { ...child, port };
}

/** Returns the environment of all the product's processes. */
export function toEnvironment(servers: Servers, taskQueue: string): Record<string, string> {
  return {
    REDIS_URL: servers.redisUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TASK_QUEUE: taskQueue,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'error',
  };
}

/** Resolves when the server on that port reports that it is ready. */
export async function untilReady(port: number, path = '/readyz'): Promise<void> {
  const url = `http://127.0.0.1:${String(port)}${path}`;
  const isReady = (): Promise<true | undefined> =>
    fetch(url).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  if (!(await untilFound(isReady, { withinMs: READY_WITHIN_MS, everyMs: 100 })))
    throw new Error(`The product is not ready: see ${url}.`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when the worker with that process id polls the queue. */
export async function untilPolls(client: Client, taskQueue: string, pid: number): Promise<void> {
  let polling = new Set<number>();
  const polls = async (): Promise<true | undefined> => {
    polling = await pollersOf(client, taskQueue);
    return polling.has(pid) || undefined;
  };
  if (await untilFound(polls, { withinMs: READY_WITHIN_MS, everyMs: 50 })) return;
  const seen = polling.size > 0 ? [...polling].join(', ') : 'no process';
  throw new Error(`worker ${String(pid)} does not poll ${taskQueue}; ${seen} did`);
}

/** Collects the pollers of all partitions, because the server lists them per partition. */
async function pollersOf(client: Client, taskQueue: string): Promise<Set<number>> {
  const { workflowService } = client.connection;
  const { namespace } = client.options;
  const { workflowTaskQueuePartitions } = await workflowService.listTaskQueuePartitions({
    namespace,
    taskQueue: { name: taskQueue },
  });
  const partitions = await Promise.all(
    workflowTaskQueuePartitions.map(({ key }) =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name: key ?? taskQueue } }),
    ),
  );
  const pollers = partitions.flatMap((partition) => partition.pollers);
  return new Set(pollers.map(({ identity }) => pidOf(identity ?? '')));
}

/** Returns the process id from a worker's identity, in this SDK's format. */
export function pidOf(identity: string): number {
  return Number(identity.split('@')[0]);
}
