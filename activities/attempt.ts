import { hasCode } from '../protocol/errors.js';
import { formatModelWriter } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { withTimeout } from '../protocol/time.js';
import type { Writer } from '../store/contract/log.js';
import type { AttemptBudget, HandOverInput } from '../store/contract/steps.js';
import type { Store } from '../store/contract/store.js';
import type { WriterLoss } from './chunk-writer.js';
import type { Held } from './lease.js';

/** Reason that the runtime cut an attempt's work; the worker's own cancellation has none. */
export type CutReason = 'stop' | WriterLoss;

/** One attempt of an activity, with its number, heartbeat, and cut signal. */
export interface Attempt extends Pick<Held, 'registered' | 'becomePatient' | 'executing'> {
  /** From 1; counts attempts that were lost with their workers. */
  number: number;
  /** Grows with every attempt, even after a reset of the workflow. */
  token: number;
  /** Fires on a stop, on a lost fence, and when Temporal cancels (time-out, worker shutdown). */
  signal: AbortSignal;
  /** Cuts the work; the first reason counts. */
  cut: (reason: CutReason) => void;
  cutReason: () => CutReason | undefined;
  /** True if Temporal cancelled this attempt; the next attempt takes over. */
  cancelled: () => boolean;
  /** Time since the workflow asked for the activity, over all attempts, ms. */
  ageMs: () => number;
  /** True once the attempt has run past its time-out, so that Temporal has given it up. */
  outlived: () => boolean;
  /** Limit of lost attempts, within a time that grows with the time-out of each. */
  budget: AttemptBudget;
  /** Hands the current heartbeat details to the successor, in case this attempt is lost. */
  leaveProgress: () => void;
  /** Heartbeat details handed over so far. */
  progress: () => unknown;
  /** Notes that the call could not begin, so that its hand-over uses up no attempt. */
  noteUnbegun: () => void;
  /** False after `noteUnbegun`. */
  begun: () => boolean;
  close: () => void;
}

/** Type of the failure with which a tool requests another execution. */
export const TOOL_RETRY = 'tool_retry';

/** Type of the failure of a call that found no free tool slot in its process. */
export const TOOLS_BUSY = 'tools_busy';

export interface NextAttempt {
  /** Reason, for operators. */
  type: string;
  /** Earliest time of the next attempt, ms from now. Default: set by the retry policy. */
  afterMs?: number;
  /** True for a wait that is not a failure, such as a wait for a provider. */
  isExpected?: boolean;
}

/** Ends an attempt at a step or call without a result; another attempt follows on any worker. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  readonly next: NextAttempt;

  constructor(message: string, next: NextAttempt) {
    super(message);
    this.next = next;
  }
}

/** Ends an attempt that was cancelled because its worker shuts down or its time is over. */
export class AttemptCancelled extends Error {
  override readonly name = 'AttemptCancelled';
}

/** Creates an attempt's signal, which follows the given signals, and the function that cuts it. */
export function createCut(
  ...signals: AbortSignal[]
): Pick<Attempt, 'signal' | 'cut' | 'cutReason'> {
  const controller = new AbortController();
  let reason: CutReason | undefined;
  return {
    signal: AbortSignal.any([controller.signal, ...signals]),
    cut: (cause) => {
      reason ??= cause;
      controller.abort(new Error(`cut: ${cause}`));
    },
    cutReason: () => reason,
  };
}

/** Returns the writer of an attempt at a step, or at one of its calls. */
export function writerOf(
  ref: { sessionId: string; runId: string; agent: string; step: number; toolCallId?: string },
  token: number,
): Writer {
  const { sessionId, runId, agent: agentType, step, toolCallId } = ref;
  const name = toolCallId === undefined ? formatModelWriter(sessionId, step) : `t:${toolCallId}`;
  return { sessionId, runId, agentType, step, name, token };
}

/** Returns the reason of the attempt's cut. @throws AttemptCancelled if Temporal cancelled it */
export function cutOf(attempt: Pick<Attempt, 'cancelled' | 'cutReason'>): CutReason | undefined {
  if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
  return attempt.cutReason();
}

/** Longest wait for the record of an attempt's end; the store keeps trying after it. */
const RECORDED_MS = 1_000;

/**
 * Records that an attempt ends without a result, and the reason. An attempt that dies, or has
 * outlived its time, records nothing: its successor counts it as lost.
 *
 * @returns true if this fault used up the budget
 */
export async function handOver(
  { store, logger }: { store: Store; logger: { warn: (fields: object, message: string) => void } },
  attempt: Attempt,
  writer: Writer,
  error: unknown,
  toolCallId?: string,
): Promise<boolean> {
  if (attempt.outlived()) return false;
  const way = toWay(error);
  const recorded = store.steps
    .handOver({ writer, how: way, toolCallId })
    .catch((failure: unknown) => {
      logger.warn({ err: failure, runId: writer.runId }, 'an attempt could not be handed over');
    });
  const result = await withTimeout(RECORDED_MS, recorded).catch(() => undefined);
  if (way !== 'fault' || result === undefined) return false;
  // The store does not count failures before the claim; Temporal does.
  const lost = result.kind === 'handed_over' ? result.lost : attempt.number;
  return lost >= LIMITS.attempts.max;
}

/** A `fault` is one of the code, which a retry does not fix. */
function toWay(error: unknown): HandOverInput['how'] {
  if (error instanceof AttemptFailure && error.next.type === TOOL_RETRY) return 'retry';
  if (error instanceof AttemptCancelled || error instanceof AttemptFailure) return 'left';
  return hasCode(error, 'unavailable') ? 'left' : 'fault';
}

/** Rejects once the signal fires, so that the agent's code cannot outlast its call. */
export function orAborted<T>(
  work: T | Promise<T>,
  signal: AbortSignal,
  why = 'the step was cut, or the hook took too long',
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error(why));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => {
        signal.removeEventListener('abort', abort);
      });
  });
}
