import type { Client } from '@temporalio/client';
import { createAgentExecutor } from '../../runs/agent-executor.js';
import { POLL_MS } from '../../runs/workers.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { requireRunning } from '../../worker/run-main.js';

it.each([
  ['none has polled', [], false],
  ['the last poll is long ago', [POLL_MS + 5_000], false],
  ['one of them polls', [POLL_MS + 5_000, 1_000], true],
])('where %s (%j ms ago), a worker is there: %s', async (_, agesMs, isThere) => {
  const pollers = agesMs.map((ms) => ({
    lastAccessTime: { seconds: Math.floor((Date.now() - ms) / 1_000), nanos: 0 },
  }));
  const client = {
    connection: { withDeadline: (_ms: number, call: () => unknown) => call() },
    options: { namespace: 'default' },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  };
  const { checks } = await createAgentExecutor({
    client: client as unknown as Client,
    agents: [],
    stores: createMemoryStores(),
  });
  const check = checks['worker']?.().then(() => true);
  expect(await check?.catch(() => false)).toBe(isThere);
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
