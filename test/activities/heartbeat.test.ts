import { asActivity } from '../../activities/as-activity.js';
import type { LeaseRef } from '../../protocol/temporal.js';
import { attemptOf, createHarness } from '../support/activity-harness.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

beforeEach(() => {
  // Only the clock of the heart stands still.
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'performance', 'setTimeout', 'clearTimeout'],
  });
});
it.each([
  ['each second', [0, 1_000, 5_000], [0, 1, 6], {}],
  ['three times within a long time-out', [29_999, 1, 60_000], [0, 1, 3], { timeoutMs: 90_000 }],
  [
    'but not while the store leaves its writes unanswered',
    [1_000, 1_000, 1_000],
    [1, 1, 2],
    { unanswered: [9_999, 10_000, 0] },
  ],
] as [string, number[], number[], { timeoutMs?: number; unanswered?: number[] }][])(
  'a model step beats while its model is silent, %s',
  async (_, waits, expected, { timeoutMs: heartbeatTimeoutMs, unanswered = [] }) => {
    const environment = attemptOf(
      1,
      heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs },
    );
    let beats = 0;
    environment.on('heartbeat', () => (beats += 1));
    let silentMs = 0;
    const seen: number[] = [];
    const model = fakeModel(async function* () {
      for (const [at, ms] of waits.entries()) {
        silentMs = unanswered[at] ?? 0;
        jest.advanceTimersByTime(ms);
        seen.push(beats);
      }
      yield* parts.says('hi');
      await Promise.resolve();
    });
    const unansweredMs = (): number => silentMs;
    const { begin, step } = createHarness(await openTestStores(), { model, unansweredMs });
    await step(await begin(), 1, 1, environment);
    expect(seen).toEqual(expected);
    // Its heart stops with it.
    jest.advanceTimersByTime(60_000);
    expect(beats).toBe(seen.at(-1));
  },
);

it('an attempt begins with what the one before has reported, or left when it was lost', async () => {
  const given: unknown[] = [];
  const work = asActivity(
    {},
    (_: LeaseRef, before) => given.push(before),
    () => Promise.resolve('done'),
  );
  const lost = { replaces: { token: 1, number: 1, progress: { known: 4 } } };
  await attemptOf(2, { heartbeatDetails: { known: 5 } }).run(work, {});
  await attemptOf(1).run(work, lost);
  expect(given).toEqual([{ known: 5 }, { known: 4 }]);
});
