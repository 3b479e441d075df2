import { learn, releasedFor, takeAnswer, takeReleased } from '../protocol/carry.js';
import type { CallRef } from '../protocol/run.js';
import type { CarryDeps } from './carry-deps.js';
import type { LocalRun } from './local-run.js';
import { LeftOff } from './attempts.js';

/** The store's clock may be behind the timer. */
const LEAST_MS = 10;

/**
 * Waits until the batch of a step is complete. The timer only wakes the run; the store's clock decides
 * whether a deadline has passed.
 *
 * @param people the calls that wait; none where this process does not know them: then the record tells
 * the next deadline
 * @returns the approved calls, or 'stopped'
 * @throws LeftOff
 */
export type UntilAnswered = (
  run: LocalRun,
  step: number,
  people: readonly CallRef[],
) => Promise<string[] | 'stopped'>;

export function createWaiting({
  parts,
  attempts,
  clock,
  leaving,
}: Pick<CarryDeps, 'parts' | 'attempts' | 'clock' | 'leaving'>): UntilAnswered {
  return async (run, step, people) => {
    const { sessionId, runId, agent } = run.input;
    const isOver = (): boolean =>
      run.carry.stopRequested || releasedFor(run.carry, step) !== undefined;
    let ms = people.length === 0 ? 0 : earliest(people);
    for (;;) {
      const isAnswered = await run
        .until(isOver, { clock, signal: leaving, ms })
        .catch((): never => {
          throw new LeftOff();
        });
      if (!isAnswered) {
        const expired = await attempts.untilStored(() =>
          parts.expireCalls({ sessionId, runId, agent, step }),
        );
        run.carry = learn(takeAnswer(run.carry, expired), expired.sequence);
        const { nextDueMs } = expired;
        ms = nextDueMs && Math.max(nextDueMs, LEAST_MS);
        continue;
      }
      const approved = releasedFor(run.carry, step);
      run.carry = takeReleased(run.carry, step);
      return approved ?? 'stopped';
    }
  };
}

function earliest(people: readonly CallRef[]): number | undefined {
  const all = people.flatMap(({ deadlineMs }) => (deadlineMs === undefined ? [] : [deadlineMs]));
  return all.length === 0 ? undefined : Math.min(...all);
}
