import { learn, releasedFor, takeAnswer, takeReleased } from '../protocol/carry.js';
import type { CallRef, Resumption } from '../protocol/run.js';
import type { CarryDeps } from './carry-deps.js';
import type { LocalRun } from './local-run.js';
import { LeftOff } from './attempts.js';

/** The store's clock may be behind the timer. */
const LEAST_MS = 10;

/**
 * Waits until something is released: the batch of a step, or the call of a tool whose wait is over. The
 * timer, and a wish to look, only wake the run; the store decides, by its clock, what has become of the
 * calls. `over`: none of them waits any more.
 *
 * @param waits the calls that wait, each with the time by which it is due; more may come. None where
 * this process does not know them: then the record tells the next deadline
 * @throws LeftOff
 */
export type UntilAnswered = (
  run: LocalRun,
  step: number,
  waits: ReadonlyMap<CallRef, number | undefined>,
) => Promise<Resumption | 'stopped' | 'over'>;

export function createWaiting({
  parts,
  attempts,
  clock,
  leaving,
}: Pick<CarryDeps, 'parts' | 'attempts' | 'clock' | 'leaving'>): UntilAnswered {
  return async (run, step, waits) => {
    const { sessionId, runId, agent } = run.input;
    const isOver = (): boolean =>
      run.carry.stopRequested || releasedFor(run.carry, step) !== undefined;
    const untilDue = (): number | undefined => {
      const all = [...waits.values()].flatMap((due) => due ?? []);
      return all.length === 0 ? undefined : Math.max(Math.min(...all) - clock.now(), 0);
    };
    let known = waits.size;
    const isNews = (): boolean => isOver() || run.mustLook() || waits.size > known;
    let ms = waits.size === 0 ? 0 : untilDue();
    for (;;) {
      const isWoken = await run.until(isNews, { clock, signal: leaving, ms }).catch((): never => {
        throw new LeftOff();
      });
      if (!isWoken || (!isOver() && run.mustLook())) {
        const look = run.takeLook();
        const expired = await attempts.untilStored(() =>
          parts.expireCalls({ sessionId, runId, agent, step, ...(look && { look }) }),
        );
        run.carry = learn(takeAnswer(run.carry, expired), expired.sequence);
        if (expired.isOver === true && !isOver()) return 'over';
        const { nextDueMs } = expired;
        ms = nextDueMs && Math.max(nextDueMs, LEAST_MS);
        continue;
      }
      if (!isOver()) {
        known = waits.size;
        ms = untilDue();
        continue;
      }
      const released = releasedFor(run.carry, step);
      run.carry = takeReleased(run.carry, step);
      return released ?? 'stopped';
    }
  };
}
