import type { CallActivityRef, LostAttempt } from '../protocol/activities.js';
import type { StepOutcome } from '../protocol/run.js';
import { type Attempt, AttemptFailure, TOOLS_BUSY } from './attempt.js';

/** Temporal starts at most so many activities of one workflow task eagerly. */
const AT_ONCE = 3;
/** The share of a process's places for models that calls may take. */
const SHARE = 1 / 4;
/** Calls are offered places while less than this share of them is taken. */
const SPARE = 1 / 2;

/**
 * Calls of tools that start eagerly: Temporal hands them to the worker in its reply to the workflow
 * task, without a queue between. They take places of models, so they are offered few, and only while
 * most are free.
 */
export interface EagerCalls {
  /** Counts a model call, or a leg, for as long as it lasts. */
  beside: <Result>(work: Promise<Result>) => Promise<Result>;
  /** How many calls of a step may start eagerly. */
  offer: (outcome: StepOutcome) => number;
  /** Carries a call out if there is a place, or says that its own task queue has to take it. */
  call: <Result>(
    ref: CallActivityRef,
    attempt: Attempt,
    work: () => Promise<Result>,
  ) => Promise<Result | LostAttempt>;
}

/** @param modelSlots concurrent activities of the worker on the task queue of the models */
export function createEagerCalls(modelSlots = 0): EagerCalls {
  const most = Math.floor(modelSlots * SHARE);
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
      return Math.max(0, Math.min(AT_ONCE, most - calls, outcome.calls.length));
    },
    call: async (ref, { token, number }, work) => {
      if (ref.eager !== true) return work();
      const moved = { kind: 'lost', token, number, begun: false, moved: true } as const;
      if (calls >= most) return moved;
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
