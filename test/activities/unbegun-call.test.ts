import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { attemptOf, createHarness } from '../support/activity-harness.js';
import { fakeModel, parts } from '../support/fake-model.js';
import type { TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

it('a worker that shuts down says whether a call that it hands over had begun', async () => {
  let isExecuted = false;
  const hold = defineTool({
    name: 'hold',
    description: 'Lasts.',
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) => {
      isExecuted = true;
      return new Promise((_resolve, reject) => {
        abortSignal.addEventListener('abort', () => {
          reject(new Error('cut'));
        });
      });
    },
  });
  const calls = [...parts.call('c1', 'hold', {}), ...parts.call('c2', 'hold', {})];
  const { begin, step, outcome } = createHarness(createMemoryStores() as unknown as TestStores, {
    model: fakeModel(() => [...calls, ...parts.finish('tool-calls')]),
    tools: [hold],
    toolSlots: { total: 1, perUser: 1 },
  });
  const run = await begin();
  await step(run, 1);
  const attempt = (toolCallId: string) => {
    const environment = attemptOf(1);
    const lost = outcome(run, 1, toolCallId, 1, { environment, isLeased: true });
    const shutDown = (): void => {
      environment.cancel('WORKER_SHUTDOWN');
    };
    return { lost, shutDown };
  };
  const first = attempt('c1');
  await until('it is executed', () => isExecuted);
  const second = attempt('c2');
  second.shutDown();
  expect(await second.lost).toMatchObject({ kind: 'lost', number: 1, begun: false });
  first.shutDown();
  expect(await first.lost).toEqual({ kind: 'lost', number: 1, token: expect.any(Number) });
});
