import { oneAtATime } from '../../../runs/record/listeners.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Longer than work waits for what its caller sends. */
const behind = () => jest.advanceTimersByTimeAsync(100);

it('work in the background begins behind what its caller does next', async () => {
  const order: string[] = [];
  const ask = oneAtATime(
    async (sessionId) => {
      order.push(`work of ${sessionId}`);
      await Promise.resolve();
    },
    () => undefined,
    50,
  );

  ask('s1');
  await Promise.resolve();
  // A signal and its reply take several turns of the event loop.
  await jest.advanceTimersByTimeAsync(10);
  order.push('signal');
  await behind();

  expect(order).toEqual(['signal', 'work of s1']);
});

it('what is asked for meanwhile is done once, behind the work under way', async () => {
  let release = (): void => undefined;
  let begun = 0;
  const ask = oneAtATime(
    async () => {
      begun += 1;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    },
    () => undefined,
  );

  ask('s1');
  await behind();
  ask('s1');
  ask('s1');
  expect(begun).toBe(1);
  release();
  await behind();
  expect(begun).toBe(2);
  release();
  await behind();
  expect(begun).toBe(2);
});

it('work that fails is reported, and asked for again it is done', async () => {
  const failures: string[] = [];
  const ask = oneAtATime(
    () => Promise.reject(new Error('away')),
    (_, sessionId) => failures.push(sessionId),
  );

  ask('s1');
  await behind();
  ask('s1');
  await behind();

  expect(failures).toEqual(['s1', 's1']);
});
