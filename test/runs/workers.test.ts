import type { Client } from '@temporalio/client';
import { createWorkerList, joinPollers, lastPoll } from '../../runs/workers.js';
import { createMemoryStores } from '../../store/memory/index.js';

const at = (ms: number) => ({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 });

/** Lists the workers of a Temporal with these pollers, by queue and type. */
function listFrom(
  pollers: Record<string, { identity?: string; lastAccessTime: ReturnType<typeof at> }[]>,
  leases?: Parameters<typeof createWorkerList>[0]['leases'],
) {
  const client = {
    options: { namespace: 'default' },
    connection: { withDeadline: <T>(_: unknown, call: () => Promise<T>) => call() },
    workflowService: {
      describeTaskQueue: ({
        taskQueue,
        taskQueueType,
      }: {
        taskQueue: { name: string };
        taskQueueType: number;
      }) =>
        Promise.resolve({ pollers: pollers[`${taskQueue.name} ${String(taskQueueType)}`] ?? [] }),
    },
  };
  return createWorkerList({ client: client as unknown as Client, taskQueue: 'q', leases })();
}

it('the workers that poll are listed with what they take, those that left are not', async () => {
  const now = Date.now();
  const poll = (identity: string | undefined, ago: number) => ({
    ...(identity !== undefined && { identity }),
    lastAccessTime: at(now - ago),
  });
  const listed = await listFrom({
    'q 1': [poll('b', 3_000), poll('a', 5_000), poll('gone', 80_000), poll(undefined, 0)],
    'q 2': [poll('b', 1_000), poll('b', 2_000)],
    'q-tools 2': [poll('c', 4_000)],
  });
  expect(listed).toEqual({
    taskQueue: 'q',
    workers: [
      { identity: 'a', takes: ['runs'], lastPollAt: now - 5_000 },
      { identity: 'b', takes: ['runs', 'steps'], lastPollAt: now - 1_000 },
      { identity: 'c', takes: ['tools'], lastPollAt: now - 4_000 },
    ],
  });
  expect(lastPoll([poll('a', 5_000), poll('b', 1_000), poll('c', 9_000)])).toBe(now - 1_000);
  expect([lastPoll([]), joinPollers([])]).toEqual([0, []]);
});

it('leases are listed with their state and attempts, sorted and limited', async () => {
  let time = Date.now();
  const { store } = createMemoryStores({ now: () => time });
  const leases = store.leases?.of('default');
  if (leases === undefined) throw new Error('no leases');
  await leases.renew('lapsed', 1_000);
  time += 2_000;
  await leases.renew('held', 60_000);
  const work = {
    id: 'x',
    taskToken: '',
    workflowId: 'w',
    runId: 'r',
    token: 1,
    number: 1,
    at: time,
  };
  for (const id of ['x', 'y']) await leases.hold('held', { ...work, id });
  await leases.renew('ended', 60_000);
  await leases.end('ended');
  const { leases: listed } = await listFrom({}, store.leases);
  expect(listed).toEqual([
    { id: 'ended', state: 'ended', attempts: 0 },
    { id: 'held', state: 'held', attempts: 2 },
    { id: 'lapsed', state: 'lapsed', attempts: 0 },
  ]);
});
