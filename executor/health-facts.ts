import type { Client } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';
import type { HealthFacts, RecordFacts } from '../protocol/health.js';
import { toolQueueOf } from '../protocol/temporal-names.js';
import { withTimeout } from '../protocol/time.js';
import type { Leases } from '../stores/contract/leases.js';
import type { Store } from '../stores/contract/store.js';

const CALL_MS = 1_500;
/** A command of an API's store fails after 1.5 s. */
const RECORD_MS = 3_000;
/** Workers ask again at least this often; Temporal lists those that went for minutes longer. */
const POLL_MS = 70_000;
/** Values of Temporal's API. */
const QUEUE_TYPE = { runs: 1, activities: 2 };
/** Leases that are looked at: the number of living workers is then a lower bound. */
const MOST_LEASES = 200;
const DAY_MS = 24 * 60 * 60_000;
/** The days before today that a period is compared with. */
const WEEK = [1, 2, 3, 4, 5, 6, 7];

export interface HealthDeps {
  client: Client;
  namespace: string;
  taskQueue: string;
  store: Pick<Store, 'waiting' | 'tallies' | 'leases' | 'due' | 'pauses'>;
}

/** Reads what the health of a fleet of workers is judged by, whatever is away. */
export function createHealthFacts(deps: HealthDeps): (periodMs: number) => Promise<HealthFacts> {
  const { client, namespace, taskQueue, store } = deps;
  const { connection, workflowService } = client;

  async function describe(name: string, kind: keyof typeof QUEUE_TYPE) {
    const queue = { namespace, taskQueue: { name }, taskQueueType: QUEUE_TYPE[kind] };
    const { pollers, stats } = await connection.withDeadline(Date.now() + CALL_MS, () =>
      workflowService.describeTaskQueue({ ...queue, reportStats: true }),
    );
    const since = Date.now() - POLL_MS;
    return {
      pollers: pollers.filter(({ lastAccessTime }) => toMs(lastAccessTime) > since).length,
      backlog: Number(stats?.approximateBacklogCount ?? 0),
      ageMs: toMs(stats?.approximateBacklogAge),
    };
  }

  async function readQueues(): Promise<HealthFacts['queues']> {
    const [runs, steps, tools] = await Promise.all([
      describe(taskQueue, 'runs'),
      describe(taskQueue, 'activities'),
      describe(toolQueueOf(taskQueue), 'activities'),
    ]);
    return {
      taskQueue,
      pollers: { runs: runs.pollers, steps: steps.pollers, tools: tools.pollers },
      backlog: runs.backlog + steps.backlog + tools.backlog,
      backlogAgeMs: Math.max(runs.ageMs, steps.ageMs, tools.ageMs),
    };
  }

  async function readRecord(periodMs: number): Promise<RecordFacts> {
    const pauses = store.pauses?.of(`${namespace}/${taskQueue}`);
    const countsOf = (daysAgo: number) =>
      store.tallies?.read(periodMs, daysAgo * DAY_MS) ?? Promise.resolve({});
    const [workers, closedAt, counts, week, { count, oldest }, paused, held] = await Promise.all([
      store.leases && countLiving(store.leases.of(namespace)),
      store.due.closedAt(),
      countsOf(0),
      Promise.all(WEEK.map(countsOf)),
      store.waiting.standing(),
      pauses?.list() ?? [],
      pauses?.held() ?? [],
    ]);
    const now = Date.now();
    return {
      workers,
      sweptMs: closedAt === 0 ? undefined : Math.max(0, now - closedAt),
      counts,
      week,
      waiting: { count, oldestMs: oldest === undefined ? undefined : Math.max(0, now - oldest) },
      paused: {
        agents: [...new Set(paused.map(({ agent }) => agent))].sort(),
        held: held.reduce((sum, each) => sum + each.count, 0),
      },
    };
  }

  return async (periodMs) => {
    const [queues, record] = await Promise.all([
      readQueues().catch(() => undefined),
      // The store of a program may wait for its Redis without limit.
      withTimeout(RECORD_MS, readRecord(periodMs), { late: toLate }).catch(toFault),
    ]);
    return { periodMs, queues, record };
  };
}

function toLate(): HelixError {
  return new HelixError('unavailable', 'The conversation store does not answer.');
}

/** A store that does not serve is a fact, any other error is a fault of this code. */
function toFault(error: unknown): { fault: string } {
  if (HelixError.isInstance(error) && error.code === 'unavailable') return { fault: error.message };
  throw error;
}

async function countLiving(leases: Leases): Promise<number> {
  const holders = (await leases.holders()).slice(0, MOST_LEASES);
  const states = await Promise.all(holders.map((holder) => leases.look(holder)));
  return states.filter(({ leftMs, isEnded }) => leftMs > 0 && !isEnded).length;
}

function toMs(time: { seconds?: unknown } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000;
}
