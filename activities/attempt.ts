import { ApplicationFailure, Context } from '@temporalio/activity';
import { formatModelWriter } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { Writer } from '../stores/contract/log.js';
import type { AttemptBudget } from '../stores/contract/steps.js';

const HEARTBEAT_MS = 1_000;
/** A worker whose write was not answered for this long leaves its attempts to other workers. */
const CANNOT_WRITE_MS = 10_000;

/** Why work was cut short, beside the worker's own cancellation. */
export type CutReason = 'stop' | 'fenced' | 'superseded' | 'rewound';

/** One attempt of an activity: its place in the order of attempts, its heart, and its cut signal. */
export interface Attempt {
  /** Temporal's attempt, from 1. */
  number: number;
  /** Grows with every attempt, also over a reset of the workflow. */
  token: number;
  /** Fires on a stop, when fenced off, and when Temporal cancels (time-out, worker going away). */
  signal: AbortSignal;
  /** Cuts the work; the first reason counts. */
  cut: (reason: CutReason) => void;
  cutReason: () => CutReason | undefined;
  /** True when Temporal told this attempt to end: the next attempt takes over. */
  cancelled: () => boolean;
  /** Time since the workflow asked for the activity, over all attempts, ms. */
  ageMs: () => number;
  /** True once the attempt has taken longer than it may: Temporal has given it up, living as it is. */
  outlived: () => boolean;
  /** How many attempts may be lost: long ones within a longer time, so that their time-outs count too. */
  budget: AttemptBudget;
  close: () => void;
}

/**
 * Heartbeats by timer, also while the model is silent: that is no dead worker. None at once: the time-out
 * counts from the start as well, and for work of less than a second each would be a write of the server's.
 *
 * A worker that cannot write does not report itself alive, and takes no attempt: another worker may reach
 * the store. Where none does, an attempt that is under way still ends with its own outcome.
 *
 * @param unansweredMs how long the oldest write has waited for the store's answer
 * @throws ApplicationFailure `StoreUnreachable`, retryable
 */
export function openAttempt(details: () => unknown, unansweredMs = (): number => 0): Attempt {
  const canWrite = (): boolean => unansweredMs() < CANNOT_WRITE_MS;
  if (!canWrite())
    throw ApplicationFailure.retryable('the store does not answer', 'StoreUnreachable');
  const context = Context.current();
  // Captured here: context functions do not work inside abort listeners.
  const { cancellationSignal } = context;
  const { attempt, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = context.info;
  const { startToCloseTimeoutMs } = context.info;
  const { most, withinMs } = LIMITS.attempts;
  const startedMs = performance.now();
  const beat = (): void => {
    if (canWrite()) context.heartbeat(details());
  };
  const timer = setInterval(beat, HEARTBEAT_MS);
  const controller = new AbortController();
  let reason: CutReason | undefined;
  return {
    number: attempt,
    token: currentAttemptScheduledTimestampMs * 1000 + Math.min(attempt, 999),
    signal: AbortSignal.any([controller.signal, cancellationSignal]),
    cut: (why) => {
      reason ??= why;
      controller.abort(new Error(`cut: ${why}`));
    },
    cutReason: () => reason,
    cancelled: () => cancellationSignal.aborted,
    ageMs: () => Date.now() - scheduledTimestampMs,
    outlived: () => performance.now() - startedMs >= startToCloseTimeoutMs,
    budget: { most, withinMs: Math.max(withinMs, startToCloseTimeoutMs * (most + 1)) },
    close: () => {
      clearInterval(timer);
    },
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
