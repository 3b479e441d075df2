import { toLegProgress } from '../activities/leg/run-leg.js';
import {
  afterCalls,
  firstStep,
  needsWorkflow,
  nextStep,
  takeLeg,
  toProgress,
  type Next,
} from '../protocol/carry.js';
import type { TerminalStatus } from '../protocol/run.js';
import { createCalls } from './calls.js';
import type { CarryDeps } from './carry-deps.js';
import type { LocalRun } from './local-run.js';
import { createWaiting } from './waiting.js';

/**
 * Carries one run to its end: legs, and between them the waits for people and sub-agents. Decides as
 * the workflow of a run in legs does; the record is the store's, so a run that was left off begins
 * again with the first step that is not committed.
 *
 * @throws LeftOff, TakenOver
 */
export function createCarryRun(deps: CarryDeps): (run: LocalRun) => Promise<void> {
  const { parts, attempts, clock, leaving } = deps;
  const untilAnswered = createWaiting(deps);
  const carryOut = createCalls({ ...deps, untilAnswered });

  return async (run) => {
    const { input } = run;
    const ms = Math.max((input.startAt ?? 0) - clock.now(), 0);
    const isStopped = (): boolean => run.carry.stopRequested;
    const isCut = ms > 0 && (await run.until(isStopped, { clock, signal: leaving, ms }));
    let next: Next = isCut ? STOPPED : firstStep(run.carry, input);
    for (;;) {
      switch (next.do) {
        case 'model':
          next = await byLeg(run, next);
          break;
        case 'calls': {
          const isOfLeg = next.people.length === 0 && !next.machine.some(needsWorkflow);
          if (isOfLeg) next = await byLeg(run, next);
          else {
            const followed: 'stopped' | 'answered' = await carryOut(run, next);
            next = followed === 'stopped' ? STOPPED : afterCalls(run.carry, input);
          }
          break;
        }
        case 'wait': {
          const released = await untilAnswered(run, next.step, new Map());
          next =
            released === 'stopped' ? STOPPED : nextStep(next.step, input, run.carry.mustFinish);
          break;
        }
        case 'end':
          await end(run, next.status);
          return;
        case 'done':
          return;
      }
    }
  };

  async function byLeg(
    run: LocalRun,
    next: Extract<Next, { do: 'model' | 'calls' }>,
  ): Promise<Next> {
    const { sessionId, runId, agent, turn, maxSteps, hasOutput, parent } = run.input;
    const progress = toProgress(run.carry);
    const ref = {
      sessionId,
      runId,
      agent,
      turn,
      maxSteps,
      hasOutput,
      parent,
      progress,
      next,
    };
    const running = run.during(
      attempts.untilDone((attempt) => parts.leg(ref, attempt, toLegProgress(ref, undefined))),
    );
    // A leg that waits for its provider does not delay a stop, which has ended the run in the record.
    const over = new AbortController();
    const ended = run
      .until(() => run.isEnded, { clock, signal: AbortSignal.any([leaving, over.signal]) })
      .catch(() => undefined);
    await Promise.race([running.catch(() => undefined), ended]);
    over.abort();
    if (run.isEnded) {
      running.catch(() => undefined);
      return STOPPED;
    }
    const outcome = await running;
    const taken = takeLeg(run.carry, outcome, run.input);
    run.carry = taken.carry;
    return taken.next;
  }

  /** Does nothing if the record has ended the run. */
  function end(run: LocalRun, status: TerminalStatus): Promise<unknown> {
    const { sessionId, runId, agent } = run.input;
    const { step, known } = run.carry;
    return attempts.untilStored(() =>
      parts.endRun({ sessionId, runId, agent, step, status, known }),
    );
  }
}

/** The record has ended the run. If it has not, it is ended now. */
const STOPPED: Next = { do: 'end', status: 'interrupted' };
