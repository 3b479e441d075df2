import { setImmediate as nextTurn } from 'node:timers/promises';
import { oneAtATime } from '../../../runs/record/listeners.js';

it('work in the background begins behind what its caller does next', async () => {
  const order: string[] = [];
  const ask = oneAtATime(
    async (sessionId) => {
      order.push(`work of ${sessionId}`);
      await Promise.resolve();
    },
    () => undefined,
  );

  ask('s1');
  await Promise.resolve();
  order.push('signal');
  await nextTurn();

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
  await nextTurn();
  ask('s1');
  ask('s1');
  expect(begun).toBe(1);
  release();
  await nextTurn();
  expect(begun).toBe(2);
  release();
  await nextTurn();
  expect(begun).toBe(2);
});

it('work that fails is reported, and asked for again it is done', async () => {
  const failures: string[] = [];
  const ask = oneAtATime(
    () => Promise.reject(new Error('away')),
    (_, sessionId) => failures.push(sessionId),
  );

  ask('s1');
  await nextTurn();
  ask('s1');
  await nextTurn();

  expect(failures).toEqual(['s1', 's1']);
});
