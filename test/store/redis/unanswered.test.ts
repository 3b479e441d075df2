import { createUnanswered, waitOutRefusals } from '../../../store/redis/send.js';
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

it('a command that cannot be sent does not count as waiting', async () => {
  const { during, silentMs } = createUnanswered();
  const fault = (): Promise<void> => {
    throw new RangeError('too many arguments');
  };
  expect(() => during(fault)).toThrow('too many arguments');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(silentMs()).toBe(0);
});

it('a command that Redis refuses for long keeps no promise of each attempt', async () => {
  const busy = Object.assign(new Error('BUSY a script'), { name: 'ReplyError' });
  /** Returns how many jobs pass an answer on that follows refusals. */
  const jobsAfter = (refusals: number): Promise<number> =>
    new Promise((resolve) => {
      let [attempts, jobs, isHere] = [0, 0, false];
      const count = async (): Promise<void> => {
        for (; !isHere; jobs += 1) await Promise.resolve();
        resolve(jobs);
      };
      const send = waitOutRefusals(() => false);
      const work = (): Promise<void> => {
        attempts += 1;
        if (attempts <= refusals) return Promise.reject(busy);
        void count();
        return Promise.resolve();
      };
      void send(work).then(() => (isHere = true));
    });
  const [once, often] = await Promise.all([jobsAfter(1), jobsAfter(4)]);
  expect(often).toBe(once);
});
