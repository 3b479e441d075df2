import { Client, Connection } from '@temporalio/client';
import { createChatClient, type ChatClient } from './client/chat-client.js';
import type { Say } from './command.js';
import { createFloor, type Floor } from './floor/floor-client.js';
import { startChild } from './processes/child.js';
import { startProduct, type Product, type Servers } from './processes/product.js';
import { redisPid, siblingPid, type Pids } from './processes/usage.js';
import type { Row } from './report.js';

export const TASK_QUEUE = 'bench-runs';

interface BenchOptions {
  /** True takes few samples: enough to show that everything works, not how fast. */
  quick: boolean;
  /** Number of waiting runs in the measurement of their memory. */
  waiting: number;
  /** Reports progress. */
  say: Say;
}

/** The context of all measurements. */
export interface Bench extends BenchOptions {
  servers: Servers;
  product: Product;
  chat: ChatClient;
  floor: Floor;
  temporal: Client;
  /** Process ids whose CPU use is measured. */
  pids: Pids;
}

/** Takes a measurement, which is a few rows of the table. A file in `measures/` exports it under this name. */
export type Take = (bench: Bench) => Promise<Row[]>;

/** Takes samples one after the other; the first `warmUp` do not count, because code and connections are cold. */
export async function takeSamples<T>(
  { warmUp = 0, count }: { warmUp?: number; count: number },
  take: () => Promise<T>,
): Promise<T[]> {
  const samples: T[] = [];
  while (samples.length < warmUp + count) samples.push(await take());
  return samples.slice(warmUp);
}

/** Starts the product and the floor on the given servers. */
export async function openBench(
  servers: Servers,
  options: BenchOptions,
): Promise<{ bench: Bench; close: () => Promise<void> }> {
  const floorWorker = startChild('bench/floor/worker.js', {
    env: { TEMPORAL_ADDRESS: servers.temporalAddress },
    nodeArgs: ['--max-semi-space-size=64'],
  });
  const undo: (() => unknown)[] = [floorWorker.stop];
  const close = async (): Promise<void> => {
    await Promise.all(undo.map((step) => step()));
  };
  try {
    const connection = await Connection.connect({ address: servers.temporalAddress });
    undo.push(() => connection.close());
    const product = await startProduct(servers, TASK_QUEUE);
    undo.push(product.stop);
    const temporal = new Client({ connection });
    const pids = {
      worker: product.worker.pid,
      api: product.api.pid,
      redis: await redisPid(servers.redisUrl),
      temporal: siblingPid('temporal'),
      client: process.pid,
      'bare worker': floorWorker.pid,
    };
    const chat = createChatClient(product.port);
    const floor = createFloor(temporal);
    return { bench: { servers, product, chat, floor, temporal, pids, ...options }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
