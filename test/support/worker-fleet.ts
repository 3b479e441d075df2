import { randomUUID } from 'node:crypto';
import type { HeldWork } from '../../store/contract/leases.js';
import { startProcess, type ProductProcess } from './process.js';
import { sharedTemporal, type Product } from './product.js';
import { until } from './until.js';

export type FleetWorker = ProductProcess & { id: string };

/** Several workers of a product. The names of their leases are never used again. */
export interface WorkerFleet {
  start: (env?: Record<string, string>) => Promise<FleetWorker>;
  /** Starts as many as are missing. Resolves with all that run. */
  upTo: (count: number) => Promise<FleetWorker[]>;
  /** The worker under whose lease an attempt of this conversation is registered. */
  workerOf: (sessionId: string) => Promise<FleetWorker>;
  /** What is registered for a conversation, by the names of the leases. */
  workOf: (sessionId: string) => Promise<[holder: string, work: HeldWork][]>;
  /** Ends all of them, also stopped ones. */
  stop: () => Promise<void>;
}

/**
 * @param product one without a worker of its own
 * @param settings of each worker
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
