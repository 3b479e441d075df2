import type { CallActivityRef, LostAttempt } from '../protocol/temporal.js';
import type { StepOutcome } from '../protocol/run.js';
import { type Attempt, AttemptFailure, TOOLS_BUSY } from './attempt.js';

/** Temporal's limit of eagerly started activities per workflow task. */
const AT_ONCE = 3;
/** Share of a process's model slots that calls may take. */
const SHARE = 1 / 4;
/** Calls are offered slots while less than this share of them is taken. */
const SPARE = 1 / 2;

/**
 * Tool calls that start eagerly: Temporal hands them to the worker in its reply to the workflow
 * task, without a queue in between. They take model slots, so only a few are offered, and only
 * while most slots are free.
 */
export interface EagerCalls {
  /** Counts a model call, or a leg, while it lasts. */
  beside: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Returns the number of a step's calls that may start eagerly. */
  offer: (outcome: StepOutcome) => number;
  /** Executes a call if a slot is free; otherwise sends it to its own task queue. */
  call: <Result>(
    ref: CallActivityRef,
    attempt: Attempt,
    work: () => Promise<Result>,
  ) => Promise<Result | LostAttempt>;
}

/** @param modelSlots concurrent activities of the worker on the task queue of the models */
export function createEagerCalls(modelSlots = 0): EagerCalls {
  const max = Math.floor(modelSlots * SHARE);
  let models = 0;
  let calls = 0;

  return {
    beside: async (work) => {
      models += 1;
      try {
        return await work;
      } finally {
        models -= 1;
      }
    },
    offer: (outcome) => {
      if (outcome.kind !== 'calls' || models + calls >= modelSlots * SPARE) return 0;
      return Math.max(0, Math.min(AT_ONCE, max - calls, outcome.calls.length));
    },
    call: async (ref, { token, number }, work) => {
      if (ref.eager !== true) return work();
      const moved = { kind: 'lost', token, number, begun: false, moved: true } as const;
      if (calls >= max) return moved;
      calls += 1;
      try {
        return await work();
      } catch (error) {
        if (error instanceof AttemptFailure && error.next.type === TOOLS_BUSY) return moved;
        throw error;
      } finally {
        calls -= 1;
      }
    },
  };
}
