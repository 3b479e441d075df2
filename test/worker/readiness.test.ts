import type { Client } from '@temporalio/client';
import { createAgentExecutor } from '../../runs/temporal-executor.js';
import { POLL_MS } from '../../runs/workers.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { requireRunning } from '../../worker/run-main.js';

it.each([
  ['none has polled', [[]], false],
  ['the last poll is long ago', [[POLL_MS + 5_000]], false],
  ['the last poll is long ago at each check', [[POLL_MS + 5_000], [POLL_MS + 5_000]], false],
  ['one of them polls', [[POLL_MS + 5_000, 1_000]], true],
  ['Temporal’s clock is behind, and one has polled since', [[900_000], [600_000]], true],
])('where %s (%j ms ago), a worker is there: %s', async (_, agesOfChecks, isThere) => {
  const now = Date.now();
  const replies = agesOfChecks.map((agesMs) => ({
    pollers: agesMs.map((ms) => ({
      lastAccessTime: { seconds: Math.floor((now - ms) / 1_000), nanos: 0 },
    })),
  }));
  const client = {
    connection: { withDeadline: (_ms: number, call: () => unknown) => call() },
    options: { namespace: 'default' },
    workflowService: { describeTaskQueue: () => Promise.resolve(replies.shift()) },
  };
  const { checks } = await createAgentExecutor({
    client: client as unknown as Client,
    agents: [],
    stores: createMemoryStores(),
  });
  const check = async (): Promise<boolean | undefined> =>
    checks['worker']?.().then(
      () => true,
      () => false,
    );
  const found = [];
  while (replies.length > 0) found.push(await check());
  expect(found.at(-1)).toBe(isThere);
});

it.each([
  ['RUNNING', true],
  ['INITIALIZED', false],
  ['DRAINING', false],
  ['STOPPED', false],
  [undefined, false],
] as const)('a worker that is %s is ready: %s', (state, isReady) => {
  const worker = state && { getState: () => state };
  const check = (): void => {
    requireRunning(worker);
  };
  if (isReady) expect(check).not.toThrow();
  else expect(check).toThrow('does not run');
});
