import { z } from 'zod';
import { activityTool } from '../../agents/index.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

it('an attempt that takes over does not start what the lost one has recorded as started', async () => {
  const ship = activityTool({
    name: 'ship',
    description: 'Ships.',
    inputSchema: z.object({}),
    activity: 'ShipOrder',
    taskQueue: 'warehouse',
  });
  let noteStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => (noteStarted = resolve));
  let starts = 0;
  let attempts = 0;
  const model = fakeModel(
    sayInTurn([...parts.call('c1', 'ship', {}), ...parts.finish('tool-calls')]),
  );
  const { begin, step, tool } = createHarness(await openTestStores(), {
    model,
    tools: [ship],
    toolWork: async (_request, { once }) => {
      attempts += 1;
      const isLost = attempts === 1;
      await once(() => {
        starts += 1;
        return Promise.resolve();
      });
      noteStarted();
      return isLost ? new Promise(() => undefined) : 'shipped';
    },
  });
  const run = await begin();
  await step(run, 1);
  const lost = tool(run, 1, 'c1').catch(() => undefined);
  await started;
  expect(await tool(run, 1, 'c1', 2)).toBe('settled');
  expect([starts, attempts]).toEqual([1, 2]);
  void lost;
});
