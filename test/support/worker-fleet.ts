import { randomUUID } from 'node:crypto';
import type { HeldWork } from '../../store/contract/leases.js';
import { startProcess, type ProductProcess } from './process.js';
import { sharedTemporal, type Product } from './product.js';
import { until } from './until.js';

export type FleetWorker = ProductProcess & { id: string };

/** Several workers of a product. Names of their leases are never reused. */
export interface WorkerFleet {
  start: (env?: Record<string, string>) => Promise<FleetWorker>;
  /** Starts missing workers up to this count. Resolves with all running ones. */
  upTo: (count: number) => Promise<FleetWorker[]>;
  /** Returns the worker whose lease holds an attempt of this conversation. */
  workerOf: (sessionId: string) => Promise<FleetWorker>;
  /** Returns the registered work of a conversation with the names of the leases. */
  workOf: (sessionId: string) => Promise<[holder: string, work: HeldWork][]>;
  /** Ends all workers, including paused ones. */
  stop: () => Promise<void>;
}

/**
 * @param product a product without a worker
 * @param settings environment of each worker
 */
export function createFleet(product: Product, settings: Record<string, string> = {}): WorkerFleet {
  const workers = new Map<string, FleetWorker>();

  async function workOf(sessionId: string): Promise<[string, HeldWork][]> {
    const keys = await product.redis.keys('hx:lease:*:work');
    const found = keys.map(async (key): Promise<[string, HeldWork][]> => {
      const holder = /\{default:(.*)\}/.exec(key)?.[1] ?? '';
      const work = (await product.redis.hvals(key)).map((json) => JSON.parse(json) as HeldWork);
      const ours = work.filter(({ workflowId }) => workflowId.includes(sessionId));
      return ours.map((one) => [holder, one]);
    });
    return (await Promise.all(found)).flat();
  }

  const fleet: WorkerFleet = {
    start: async (env = {}) => {
      const id = randomUUID();
      const worker = startProcess('worker', {
        REDIS_URL: product.redisServer.url,
        TEMPORAL_ADDRESS: sharedTemporal(),
        TASK_QUEUE: product.taskQueue,
        LEASE_ID: id,
        ...settings,
        ...env,
      });
      const started = { ...worker, id };
      workers.set(id, started);
      void worker.exitCode.then(() => workers.delete(id));
      await worker.says('worker runs');
      return started;
    },
    upTo: async (count) => {
      const missing = Array.from({ length: count - workers.size }, () => fleet.start());
      await Promise.all(missing);
      return [...workers.values()];
    },
    workOf,
    workerOf: (sessionId) =>
      until('an attempt is registered', async () => {
        const [entry] = await workOf(sessionId);
        const id = entry?.[0].split('.')[0] ?? '';
        return workers.get(id);
      }),
    stop: async () => {
      await Promise.allSettled([...workers.values()].map((worker) => worker.kill9()));
    },
  };
  return fleet;
}
