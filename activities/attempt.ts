import { HelixError } from '../protocol/errors.js';
import { formatModelWriter } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { withTimeout } from '../protocol/time.js';
import type { Writer } from '../store/contract/log.js';
import type { AttemptBudget, HandOverInput } from '../store/contract/steps.js';
import type { WriterLoss } from './chunk-writer.js';
import type { ActivityDeps } from './deps.js';
import type { ExecutedCall } from './lease.js';

/** Why work was cut short, beside the worker's own cancellation. */
export type CutReason = 'stop' | WriterLoss;

/** One attempt of an activity: its place in the order of attempts, its heartbeat, and its cut signal. */
export interface Attempt {
  /** From 1; attempts that were lost with their workers count. */
  number: number;
  /** Grows with every attempt, also over a reset of the workflow. */
  token: number;
  /** Fires on a stop, when fenced off, and when Temporal cancels (time-out, worker going away). */
  signal: AbortSignal;
  /** Cuts the work; the first reason counts. */
  cut: (reason: CutReason) => void;
  cutReason: () => CutReason | undefined;
  /** True when Temporal cancelled this attempt: the next attempt takes over. */
  cancelled: () => boolean;
  /** Time since the workflow asked for the activity, over all attempts, ms. */
  ageMs: () => number;
  /** True once the attempt has taken longer than its time-out: Temporal has given it up. */
  outlived: () => boolean;
  /** How many attempts may be lost, within a time that grows with the time-out of each. */
  budget: AttemptBudget;
  /** Resolves once another worker would take the attempt over. @throws AttemptFailure */
  registered: Promise<void>;
  /**
   * To be called before a call that may not be repeated: a worker that only stood still keeps it.
   * The returned function is called when the call has ended.
   */
  becomePatient: () => Promise<() => void>;
  /**
   * Notes which tool is about to execute what call, in case it holds up the process. The returned
   * function is called when it has ended.
   */
  executing: (call: ExecutedCall) => () => void;
  /** Leaves to its successor, in case this attempt is lost, what its heartbeats report. */
  leaveProgress: () => void;
  /** What it has left so far. */
  progress: () => unknown;
  /** Notes that its call was not permitted to begin, so that handing it over uses nothing up. */
  noteUnbegun: () => void;
  /** False once that is noted. */
  begun: () => boolean;
  close: () => void;
}

/** Type of the failure with which a tool requests another execution. */
export const TOOL_RETRY = 'tool_retry';

/** Type of the failure of a call that has found no place among the tools of its process. */
export const TOOLS_BUSY = 'tools_busy';

/** What a failure says of the attempt that follows. */
export interface NextAttempt {
  /** Names the reason; operators read it. */
  type: string;
  /** Earliest time of the next attempt, ms from now. Default: as the retry policy says. */
  afterMs?: number;
  /** True for a wait that is no failure, such as for a provider. */
  isExpected?: boolean;
}

/** Ends an attempt at a step or call without a result: another attempt follows, on any worker. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  readonly next: NextAttempt;

  constructor(message: string, next: NextAttempt) {
    super(message);
    this.next = next;
  }
}

/** The attempt was cancelled, since its worker shuts down or its time is over. */
export class AttemptCancelled extends Error {
  override readonly name = 'AttemptCancelled';
}

/** The signal of an attempt, which fires with the others as well, and what cuts it. */
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

/** Writer of a step's model call. */
export function modelWriter(
  ref: { sessionId: string; runId: string; agent: string; step: number },
  token: number,
): Writer {
  return { ...pickWriter(ref), name: formatModelWriter(ref.sessionId, ref.step), token };
}

/** Writer of one tool call. */
export function callWriter(
  ref: { sessionId: string; runId: string; agent: string; step: number; toolCallId: string },
  token: number,
): Writer {
  return { ...pickWriter(ref), name: `t:${ref.toolCallId}`, token };
}

function pickWriter(ref: {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
}): Omit<Writer, 'name' | 'token'> {
  return { sessionId: ref.sessionId, runId: ref.runId, agentType: ref.agent, step: ref.step };
}

/** What has cut the attempt's work, if anything. @throws AttemptCancelled if that was the worker's end */
export function cutOf(attempt: Pick<Attempt, 'cancelled' | 'cutReason'>): CutReason | undefined {
  if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
  return attempt.cutReason();
}

/** An attempt waits this long until its end is recorded; the store keeps trying while the process lives. */
const RECORDED_MS = 1_000;

/** True for a fault of the code, which repetition does not mend; false for an outage. */
export function isFault(error: unknown): boolean {
  if (error instanceof AttemptCancelled || error instanceof AttemptFailure) return false;
  return !(HelixError.isInstance(error) && error.code === 'unavailable');
}

/**
 * Records that an attempt ends without a result, and why. An attempt that dies, or has outlived its
 * time, records nothing: its successor counts it as lost.
 *
 * @returns true if this fault used the budget up
 */
export async function handOver(
  { store, logger }: Pick<ActivityDeps, 'store' | 'logger'>,
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
  // The store does not count what fails before the claim; Temporal does.
  const lost = result.kind === 'handed_over' ? result.lost : attempt.number;
  return lost >= LIMITS.attempts.most;
}

function toWay(error: unknown): HandOverInput['how'] {
  if (isFault(error)) return 'fault';
  return error instanceof AttemptFailure && error.next.type === TOOL_RETRY ? 'retry' : 'left';
}

/** The agent's code may take its time, but not outlast the call that it is made for. */
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
