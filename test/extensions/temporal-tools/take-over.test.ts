import { z } from 'zod';
import { activityTool } from '../../../extensions/temporal-tools/index.js';
import { openHarness } from '../../support/activity-harness.js';
import { parts, sayInTurn } from '../../support/fake-model.js';

it('an attempt that takes over long after the lost one starts nothing that may be forgotten by now', async () => {
  const ship = activityTool({
    name: 'ship',
    description: 'Ships.',
    inputSchema: z.object({}),
    activity: 'ShipOrder',
    taskQueue: 'warehouse',
  });
  let noteStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => (noteStarted = resolve));
  const attempts: unknown[] = [];
  const { begin, step, tool } = await openHarness(
    sayInTurn(parts.asks(parts.call('c1', 'ship', {}))),
    {
      tools: [ship],
      toolWork: (_request, { isRepeated, mayBeGone }) => {
        attempts.push([isRepeated, mayBeGone]);
        noteStarted();
        return attempts.length < 3 ? new Promise(() => undefined) : Promise.resolve('shipped');
      },
    },
  );
  const run = await begin();
  await step(run, 1);
  void tool(run, 1, 'c1').catch(() => undefined);
  await started;
  const again = new Promise<void>((resolve) => (noteStarted = resolve));
  void tool(run, 1, 'c1', 2, { ageMs: 3_000_000 }).catch(() => undefined);
  await again;
  expect(await tool(run, 1, 'c1', 3, { ageMs: 4_000_000 })).toBe('settled');
  expect(attempts).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
});
