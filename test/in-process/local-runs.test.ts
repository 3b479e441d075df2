import { expect, it } from '@jest/globals';
import { AttemptFailure } from '../../activities/attempt-failure.js';
import type { RunParts } from '../../activities/run-parts.js';
import { systemClock } from '../../in-process/clock.js';
import { createLocalRuns, type LocalRuns } from '../../in-process/local-runs.js';
import type { RunInput } from '../../protocol/run.js';

const logger = { info: () => undefined, warn: () => undefined };
const INPUT: RunInput = {
  ...{ sessionId: 's-1', runId: 's-1:1-a', agent: 'guide', turn: 1, maxSteps: 5 },
  ...{ searchAttributes: false, hasOutput: false },
};

/** Runs that the record knows as begun. */
function runsOf(leg: () => Promise<unknown>): LocalRuns {
  return createLocalRuns({
    ...{ name: 'test', clock: systemClock, logger },
    parts: () => ({ leg }) as unknown as RunParts,
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
