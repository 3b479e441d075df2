import type { Client } from '@temporalio/client';
import type { OperatorLease, OperatorWorker, OperatorWorkers } from '../protocol/operator.js';
import { toolQueueOf } from '../protocol/temporal.js';
import type { Leases } from '../store/contract/leases.js';
import { toMs, withinDeadline, type Timestamp } from './temporal-calls.js';

/** Task queue types of Temporal's API. */
const RUNS = 1;
const ACTIVITIES = 2;
const MAX_LEASES = 200;

/**
 * Lists the workers that ask Temporal for work, and the leases. @throws HelixError `unavailable`
 */
export function createWorkerList(deps: {
  client: Client;
  taskQueue: string;
  leases: Leases | undefined;
}): () => Promise<OperatorWorkers> {
  const { client, taskQueue, leases } = deps;
  const { connection, workflowService } = client;
  const { namespace } = client.options;

  async function read(name: string, taskQueueType: number, takes: OperatorWorker['takes'][number]) {
    const queue = { namespace, taskQueue: { name }, taskQueueType };
    const { pollers } = await withinDeadline(connection, () =>
      workflowService.describeTaskQueue(queue),
    );
    const since = Date.now() - POLL_MS;
    return pollers.flatMap(({ identity, lastAccessTime }) => {
      const lastPollAt = Math.round(toMs(lastAccessTime));
      return identity && lastPollAt > since ? [{ identity, takes, lastPollAt }] : [];
    });
  }

  return async () => {
    const [runs, steps, tools, held] = await Promise.all([
      read(taskQueue, RUNS, 'runs'),
      read(taskQueue, ACTIVITIES, 'steps'),
      read(toolQueueOf(taskQueue), ACTIVITIES, 'tools'),
      leases && readLeases(leases.of(namespace)),
    ]);
    return {
      taskQueue,
      workers: joinPollers([...runs, ...steps, ...tools]),
      ...(held !== undefined && { leases: held }),
    };
  };
}

interface Poll {
  identity: string;
  takes: OperatorWorker['takes'][number];
  lastPollAt: number;
}

/** Joins the polls of each identity to one worker, sorted by name. Pure. */
export function joinPollers(polls: readonly Poll[]): OperatorWorker[] {
  const workers = new Map<string, OperatorWorker>();
  for (const { identity, takes, lastPollAt } of polls) {
    const worker = workers.get(identity) ?? { identity, takes: [], lastPollAt };
    if (!worker.takes.includes(takes)) worker.takes.push(takes);
    worker.lastPollAt = Math.max(worker.lastPollAt, lastPollAt);
    workers.set(identity, worker);
  }
  return [...workers.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

async function readLeases(leases: Leases): Promise<OperatorLease[]> {
  const holders = (await leases.holders()).sort().slice(0, MAX_LEASES);
  return Promise.all(
    holders.map(async (id) => {
      const [{ leftMs, isEnded }, work] = await Promise.all([leases.look(id), leases.work(id)]);
      const state = isEnded ? 'ended' : leftMs > 0 ? 'held' : 'lapsed';
      return { id, state, attempts: work.length };
    }),
  );
}

/** Workers poll at least this often; Temporal lists those that left for minutes longer. */
export const POLL_MS = 70_000;

interface Poller {
  identity?: string | null;
  lastAccessTime?: Timestamp | null;
}

/** Returns the time of the last poll, ms since the epoch by Temporal's clock; 0 without one. */
export function lastPoll(pollers: readonly Poller[]): number {
  return Math.max(0, ...pollers.map(({ lastAccessTime }) => toMs(lastAccessTime)));
}
