import { AttemptFailure } from '../../activities/attempt-failure.js';
import type { RunParts } from '../../activities/run-parts.js';
import { systemClock, type Clock } from '../../in-process/clock.js';
import { createTestClock } from '../../testing/test-clock.js';
import { createLocalRuns, type LocalRuns } from '../../in-process/local-runs.js';
import type { RunInput } from '../../protocol/run.js';

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

/** Runs that the record knows as begun. */
function runsOf(
  leg: () => Promise<unknown>,
  { clock = systemClock, endRun }: { clock?: Clock; endRun?: () => Promise<unknown> } = {},
): LocalRuns {
  return createLocalRuns({
    name: 'test',
    clock,
    logger,
    parts: () => ({ leg, endRun }) as unknown as RunParts,
    revive: () => Promise.resolve(),
    isBegun: () => Promise.resolve(true),
  });
}

it('a run that was given up is closed, until it is begun again', async () => {
  const outcomes: Promise<unknown>[] = [Promise.resolve('nonsense'), new Promise(() => undefined)];
  const runs = runsOf(() => outcomes.shift() ?? Promise.reject(new Error('no leg is expected')));
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

it('a run that begins later waits for its time, and is stopped before', async () => {
  const clock = createTestClock();
  const done: string[] = [];
  const leg = () => {
    done.push('leg');
    return Promise.reject(new AttemptFailure('taken', { type: 'fenced' }));
  };
  const endRun = () => Promise.resolve(done.push('end'));
  const runs = runsOf(leg, { clock, endRun });
  const startAt = clock.now() + 60 * 24 * 3_600_000;
  await runs.start({ ...INPUT, startAt }, { details: '' });
  await runs.start({ ...INPUT, runId: 's-1:2-b', startAt }, { details: '' });
  await runs.stop('s-1:2-b', { recorded: true });
  clock.advance(startAt - clock.now() - 60_000);
  await new Promise(setImmediate);
  expect([done, runs.has(INPUT.runId)]).toEqual([['end'], true]);
  clock.advance(60_000);
  await runs.idle();
  expect(done).toEqual(['end', 'leg']);
});
