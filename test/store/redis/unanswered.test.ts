import { createUnanswered } from '../../../store/redis/send.js';
import { until } from '../../support/until.js';

const never = (): Promise<void> => new Promise(() => undefined);

it('a connection is silent while a command waits and nothing is answered', async () => {
  const { during, silentMs } = createUnanswered();
  expect(silentMs()).toBe(0);
  void during(never);
  await until('some time has passed', () => silentMs() > 200);
  const before = silentMs();
  // Another node of the cluster answers.
  await during(() => Promise.resolve());
  expect(silentMs()).toBeLessThan(before);
  await until('it is silent again', () => silentMs() > 20);
});

it('an error counts as an answer', async () => {
  const { during, silentMs } = createUnanswered();
  await expect(during(() => Promise.reject(new Error('OOM')))).rejects.toThrow('OOM');
  expect(silentMs()).toBe(0);
});
