import type { StepRef } from '../protocol/temporal.js';
import {
  isTerminal,
  type RunError,
  type RunRef,
  type StepOutcome,
  type StopRequest,
} from '../protocol/run.js';
import { forceEnd, STATE_LOST, type ForcedEnd } from '../runs/record/force-end.js';
import { type Attempt, AttemptFailure } from './attempt.js';
import type { WriterLoss } from './chunk-writer.js';
import type { ActivityDeps } from './deps.js';
import { ATTEMPTS_EXHAUSTED } from './model/step-outcome.js';
import { leaveToNewerWorker } from './run-agent.js';

/**
 * Reason that an attempt of a step ends without a reply of its model.
 *
 * - `superseded`: another run, or another party's end of this run, replaced it.
 * - `fenced`: a newer attempt owns the step.
 * - `rewound`: the store is older than the attempt and its `known` entries (default: the step's).
 * - `stopped`: the claim found a stop.
 * - `exhausted`: too many attempts were lost.
 * - `unknown_agent`: this worker does not know the agent.
 * - `failed`: the step cannot be executed.
 */
export type Over =
  | { kind: WriterLoss; known?: number }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'exhausted' }
  | { kind: 'unknown_agent' }
  | { kind: 'failed'; error: RunError };

/** Ends a run whose entries after `known` the store has lost; nothing is written over the gap. */
export async function endLost(
  { store, logger }: Pick<ActivityDeps, 'store' | 'logger'>,
  { sessionId, runId, agent: agentType, step }: RunRef & { step: number },
  known: number,
): Promise<void> {
  logger.warn({ runId, step, known }, 'the store is older than the run: it was restored');
  const end = { sessionId, runId, agentType, step, floor: known, now: Date.now() };
  await store.runs.end({ ...end, status: 'failed', error: STATE_LOST });
}

/** Thrown when an attempt of a step finds that it is over; `createModelStep` catches it. */
export class AttemptOver extends Error {
  override readonly name = 'AttemptOver';

  readonly over: Over;

  constructor(over: Over) {
    super(`the attempt is over: ${over.kind}`);
    this.over = over;
  }
}

/** Returns the store's result if the attempt still owns its step. @throws AttemptOver */
export function owned<Result extends { kind: string }>(
  result: Result,
): Exclude<Result, { kind: WriterLoss }> {
  const { kind } = result;
  if (kind === 'superseded' || kind === 'fenced' || kind === 'rewound') {
    throw new AttemptOver({ kind });
  }
  return result as Exclude<Result, { kind: WriterLoss }>;
}

/** Creates a retryable failure: if this attempt is current, the next has a higher token. */
export function fenced(what: 'step' | 'call'): AttemptFailure {
  return new AttemptFailure(`another attempt owns this ${what}`, { type: 'fenced' });
}

/** Error of a run whose step meets a fault that a retry does not fix. */
export const POISONED = { message: 'The agent could not continue.', retryable: false };

/** Ends an attempt without its model's reply, and writes the run's end to the record. @throws `fenced` */
export type EndStep = (ref: StepRef, attempt: Attempt, over: Over) => Promise<StepOutcome>;

export function createEndStep(deps: ActivityDeps): EndStep {
  const { store, logger } = deps;

  return async (ref, attempt, over) => {
    switch (over.kind) {
      case 'superseded':
        return readEnd(ref);
      case 'fenced':
        throw fenced('step');
      case 'rewound':
        return rewound(ref, over.known ?? ref.known);
      case 'stopped':
        return stopped(ref, over.stop);
      case 'exhausted':
        logger.warn(
          { runId: ref.runId, step: ref.step },
          'the step has lost as many attempts as it may',
        );
        return forced(ref, { status: 'failed', error: ATTEMPTS_EXHAUSTED });
      case 'unknown_agent':
        return unknownAgent(ref, attempt);
      case 'failed':
        return failed(ref, over.error);
    }
  };

  /** Ends the run without a model call. Keeps an earlier attempt's partial reply: people saw it. */
  async function forced(ref: StepRef, end: Omit<ForcedEnd, 'now'>): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId) return { kind: 'superseded' };
    await forceEnd(deps, record, { ...end, now: Date.now() });
    return readEnd(ref);
  }

  function stopped(ref: StepRef, { mode }: StopRequest): Promise<StepOutcome> {
    return forced(ref, { status: mode === 'abort' ? 'aborted' : 'interrupted' });
  }

  /** Ends a run whose work the store has lost, unless the session was erased. */
  async function rewound(ref: StepRef, known: number): Promise<StepOutcome> {
    if ((await store.sessions.read(ref.sessionId)) === undefined) return { kind: 'superseded' };
    await endLost(deps, ref, known);
    return { kind: 'ended', step: ref.step, status: 'failed', error: STATE_LOST };
  }

  /** A run that has ended or was stopped needs no worker that knows its agent. */
  async function unknownAgent(ref: StepRef, attempt: Attempt): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId || isTerminal(record.status)) return readEnd(ref);
    if (record.stop !== undefined) return stopped(ref, record.stop);
    leaveToNewerWorker(attempt, `an agent "${ref.agent}"`);
    return failed(ref, { code: 'unknown_agent', ...POISONED });
  }

  async function failed(ref: StepRef, error: RunError): Promise<StepOutcome> {
    const { sessionId, runId, agent: agentType, step } = ref;
    const end = { sessionId, runId, agentType, step, now: Date.now() };
    await store.runs.end({ ...end, status: 'failed', error });
    return readEnd(ref);
  }

  /** Reports an end that another party, such as a stop, gave the run. */
  async function readEnd({ sessionId, runId, step }: StepRef): Promise<StepOutcome> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || !isTerminal(record.status)) return { kind: 'superseded' };
    const { status, error } = record;
    return { kind: 'ended', step, status, error };
  }
}
