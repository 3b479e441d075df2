import { AttemptFailure } from '../../../activities/attempt.js';
import type { RunOperations } from '../../../activities/run-operations.js';
import { systemClock, type Clock } from '../../../extensions/one-process/clock.js';
import { createTestClock } from '../../../testing/test-clock.js';
import { createLocalRuns, type LocalRuns } from '../../../extensions/one-process/local-runs.js';
import type { Next, RunInput } from '../../../protocol/run.js';

const logger = { info: () => undefined, warn: () => undefined };
const INPUT: RunInput = {
  sessionId: 's-1',
  runId: 's-1:1-a',
  agent: 'guide',
  turn: 1,
  maxSteps: 5,
  searchAttributes: false,
  hasOutput: false,
};

/** Creates local runs for records that have begun. */
function runsOf(
  modelStep: () => Promise<unknown>,
  { clock = systemClock, ...operations }: { clock?: Clock } & Partial<RunOperations> = {},
): LocalRuns {
  return createLocalRuns({
    name: 'test',
    clock,
    logger,
    operations: () => ({ modelStep, ...operations }) as unknown as RunOperations,
    revive: () => Promise.resolve(),
    isBegun: () => Promise.resolve(true),
  });
}

it('a run that was given up is closed, until it is begun again', async () => {
  const outcomes: Promise<unknown>[] = [
    Promise.resolve({ kind: 'superseded', at: 'nonsense' }),
    new Promise(() => undefined),
  ];
  const asked = () => outcomes.shift() ?? Promise.reject(new Error('no step is expected'));
  const runs = runsOf(asked);
  expect(await runs.state(INPUT.runId)).toBe('running');
  await runs.start(INPUT, { details: '' });
  await runs.idle();
  expect(await runs.state(INPUT.runId)).toBe('closed');
  expect(await runs.look(INPUT.runId)).toMatchObject({ state: 'closed' });
  await runs.start(INPUT, { details: '' });
  expect(await runs.state(INPUT.runId)).toBe('running');
});

it('a run that another process took over is not closed', async () => {
  const runs = runsOf(() => Promise.reject(new AttemptFailure('taken', { type: 'fenced' })));
  await runs.start(INPUT, { details: '' });
  await runs.idle();
  expect(await runs.state(INPUT.runId)).toBe('running');
});

it('runs are left once what they have in progress is over', async () => {
  let end = (): void => undefined;
  const step = new Promise<unknown>((resolve) => {
    end = () => {
      const next: Next = { do: 'open', step: 1, people: ['a'] };
      resolve({ kind: 'superseded', at: { version: 1, sequence: 0, next } });
    };
  });
  const runs = runsOf(() => step);
  await runs.start(INPUT, { details: '' });
  let isLeft = false;
  const leaving = runs.leave().then(() => (isLeft = true));
  await new Promise(setImmediate);
  expect(isLeft).toBe(false);
  end();
  await leaving;
  expect(runs.isIdle()).toBe(true);
});

it('a process that has left its runs begins none, and takes up none that is answered', async () => {
  const begun: string[] = [];
  const runs = createLocalRuns({
    name: 'test',
    clock: systemClock,
    logger,
    operations: () =>
      ({ modelStep: async () => void begun.push('a step') }) as unknown as RunOperations,
    revive: async (sessionId) => void begun.push(sessionId),
    isBegun: () => Promise.resolve(false),
  });
  await runs.leave();
  await runs.start(INPUT, { details: '' });
  await runs.wake(INPUT.runId);
  expect([begun, runs.isIdle()]).toEqual([[], true]);
});

it('a run that begins later waits for its time, and is stopped before', async () => {
  const clock = createTestClock();
  const done: string[] = [];
  const modelStep = () => {
    done.push('step');
    return Promise.reject(new AttemptFailure('taken', { type: 'fenced' }));
  };
  const startAt = clock.now() + 60 * 24 * 3_600_000;
  const look: RunOperations['look'] = async ({ runId }) => {
    const isStopped = runId.endsWith('b');
    const next: Next = isStopped
      ? { do: 'done', step: 0, status: 'interrupted' }
      : { do: 'model', step: 1 };
    done.push(next.do);
    return { at: { version: 1, sequence: 0, next } };
  };
  const runs = runsOf(modelStep, { clock, look });
  await runs.start({ ...INPUT, startAt }, { details: '' });
  await runs.start({ ...INPUT, runId: 's-1:2-b', startAt }, { details: '' });
  await runs.wake('s-1:2-b');
  clock.advance(startAt - clock.now() - 60_000);
  await new Promise(setImmediate);
  expect([done, runs.has(INPUT.runId)]).toEqual([['done'], true]);
  clock.advance(60_000);
  await runs.idle();
  expect(done).toEqual(['done', 'model', 'step']);
});

it('many runs that wait bring no warning of Node', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  const runs = runsOf(() => Promise.reject(new Error('no step is expected')), {
    clock: createTestClock(),
  });
  const startAt = Date.now() + 1_000_000_000;
  for (let n = 0; n < 12; n += 1)
    await runs.start({ ...INPUT, runId: `s-1:${String(n)}-a`, startAt }, { details: '' });
  // Node emits a warning in a later turn.
  await new Promise(setImmediate);
  process.off('warning', note);
  expect(warnings).toEqual([]);
  await runs.leave();
});
