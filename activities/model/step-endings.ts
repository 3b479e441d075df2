import type { StepRef } from '../../protocol/activities.js';
import {
  isTerminal,
  type RunError,
  type StepOutcome,
  type StopRequest,
} from '../../protocol/run.js';
import { endSilent } from '../../stores/record/end-silent.js';
import type { Attempt } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import { leaveToNewerWorker } from '../unknown-agent.js';
import { ATTEMPTS_EXHAUSTED } from './step-outcome.js';

/** Ends of a run that a step finds instead of its model's reply; each writes the end in the record. */
export interface StepEndings {
  stopped: (ref: StepRef, stop: StopRequest) => Promise<StepOutcome>;
  rewound: (ref: StepRef, known: number) => Promise<StepOutcome>;
  unknownAgent: (ref: StepRef, attempt: Attempt) => Promise<StepOutcome>;
  exhausted: (ref: StepRef) => Promise<StepOutcome>;
  /** The code has a fault that repetition does not mend. */
  poisoned: (ref: StepRef, code: string) => Promise<StepOutcome>;
  elsewhere: (ref: StepRef) => Promise<StepOutcome>;
}

export function createStepEndings(deps: ActivityDeps): StepEndings {
  const { store, logger } = deps;
  return { stopped, rewound, unknownAgent, exhausted, poisoned, elsewhere };

  /**
   * A claim that found a stop: no model call, the run ends as the stop says. What an attempt before
   * had said stays, since people saw it.
   */
  async function stopped(ref: StepRef, { mode }: StopRequest): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId) return { kind: 'superseded' };
    const status = mode === 'abort' ? 'aborted' : 'interrupted';
    await endSilent(deps, record, { status, now: Date.now() });
    return elsewhere(ref);
  }

  /** The store has lost what this run did: nothing is written over the gap. */
  async function rewound(ref: StepRef, known: number): Promise<StepOutcome> {
    const { sessionId, runId, agent: agentType, step } = ref;
    logger.warn({ runId, step, known }, 'the store is older than the run: it was restored');
    const error: RunError = {
      code: 'state_lost',
      message: 'Part of this conversation was lost. Send a message to go on.',
      retryable: false,
    };
    const end = { sessionId, runId, agentType, step, floor: known, now: Date.now() };
    await store.runs.end({ ...end, status: 'failed', error });
    return { kind: 'ended', step, status: 'failed', error };
  }

  /** A run that is over, or was stopped, needs no worker that knows its agent. */
  async function unknownAgent(ref: StepRef, attempt: Attempt): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId || isTerminal(record.status)) return elsewhere(ref);
    if (record.stop !== undefined) return stopped(ref, record.stop);
    leaveToNewerWorker(attempt, `an agent "${ref.agent}"`);
    return poisoned(ref, 'unknown_agent');
  }

  /** Too many attempts died without a word: what the last one had said stays, since people saw it. */
  async function exhausted(ref: StepRef): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId) return { kind: 'superseded' };
    const { runId, step } = ref;
    logger.warn({ runId, step }, 'the step has lost as many attempts as it may');
    await endSilent(deps, record, {
      status: 'failed',
      error: ATTEMPTS_EXHAUSTED,
      now: Date.now(),
    });
    return elsewhere(ref);
  }

  async function poisoned(ref: StepRef, code: string): Promise<StepOutcome> {
    const error: RunError = {
      code,
      message: 'The agent could not go on.',
      retryable: false,
    };
    const { sessionId, runId, agent: agentType, step } = ref;
    await store.runs.end({
      sessionId,
      runId,
      agentType,
      step,
      status: 'failed',
      error,
      now: Date.now(),
    });
    return elsewhere(ref);
  }

  /** Reports how the run ended, where another party, a stop for instance, ended it. */
  async function elsewhere({ sessionId, runId, step }: StepRef): Promise<StepOutcome> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || !isTerminal(record.status)) return { kind: 'superseded' };
    const { status, error } = record;
    return { kind: 'ended', step, status, ...(error !== undefined && { error }) };
  }
}
