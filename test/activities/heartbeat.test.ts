import { asActivity } from '../../activities/as-activity.js';
import type { LeaseRef } from '../../protocol/activities.js';
import { attemptOf, createHarness, openHarness } from '../support/activity-harness.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

beforeEach(() => {
  // Only the clock of the heart stands still.
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'performance',
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
});
afterEach(() => {
  jest.useRealTimers();
});

it('a model step beats while its model is silent, and not before it has lasted a second', async () => {
  const environment = attemptOf(1);
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  const seen: number[] = [];
  const { begin, step } = await openHarness(async function* () {
    seen.push(beats.length);
    jest.advanceTimersByTime(1_000);
    seen.push(beats.length);
    jest.advanceTimersByTime(5_000);
    seen.push(beats.length);
    yield* parts.says('hi');
    await Promise.resolve();
  });
  await step(await begin(), 1, 1, environment);
  expect(seen).toEqual([0, 1, 6]);
  // Its heart stops with it.
  jest.advanceTimersByTime(5_000);
  expect(beats).toHaveLength(6);
});

it('beats three times within a long time-out', async () => {
  const environment = attemptOf(1, { heartbeatTimeoutMs: 90_000 });
  let beats = 0;
  environment.on('heartbeat', () => (beats += 1));
  const seen: number[] = [];
  const { begin, step } = await openHarness(async function* () {
    for (const ms of [29_999, 1, 60_000]) {
      jest.advanceTimersByTime(ms);
      seen.push(beats);
    }
    yield* parts.says('hi');
    await Promise.resolve();
  });
  await step(await begin(), 1, 1, environment);
  expect(seen).toEqual([0, 1, 3]);
});

it('does not beat while the store leaves its writes unanswered', async () => {
  const environment = attemptOf(1);
  let beats = 0;
  environment.on('heartbeat', () => (beats += 1));
  let silentMs = 0;
  const seen: number[] = [];
  const model = fakeModel(async function* () {
    for (const ms of [9_999, 10_000, 0]) {
      silentMs = ms;
      jest.advanceTimersByTime(1_000);
      seen.push(beats);
    }
    yield* parts.says('hi');
    await Promise.resolve();
  });
  const unansweredMs = (): number => silentMs;
  const { begin, step } = createHarness(await openTestStores(), { model, unansweredMs });
  await step(await begin(), 1, 1, environment);
  expect(seen).toEqual([1, 1, 2]);
});

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
