import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { type LeaseRef, type LostAttempt, STORE_UNREACHABLE } from '../protocol/temporal.js';
import { LIMITS } from '../protocol/limits.js';
import { type Attempt, AttemptCancelled, AttemptFailure, createCut } from './attempt.js';
import type { ActivityDeps } from './deps.js';
import { holdAttempt, numberOf, tokenOf } from './lease.js';

/**
 * Wraps work on an attempt as a Temporal activity.
 *
 * @param toDetails returns the heartbeat details from those of the previous attempt, or from what
 * it left when it was lost; the work keeps them current
 */
export function asActivity<Ref extends LeaseRef, Details, Result>(
  deps: Pick<ActivityDeps, 'unansweredMs' | 'lease'>,
  toDetails: (ref: Ref, before: unknown) => Details,
  work: (ref: Ref, attempt: Attempt, details: Details) => Promise<Result>,
): (ref: Ref) => Promise<Result | LostAttempt> {
  return async (ref) => {
    const { info, cancellationSignal } = Context.current();
    const details = toDetails(ref, info.heartbeatDetails ?? ref.replaces?.progress);
    const attempt = openAttempt(deps, ref, () => details);
    try {
      await attempt.registered;
      return await work(ref, attempt, details);
    } catch (error) {
      const { token, number } = attempt;
      // The workflow reschedules the work at once: a retry timer has a granularity of one second.
      if (ref.isLeased === true && isShutdown(cancellationSignal)) {
        const lost: LostAttempt = { kind: 'lost', token, number, progress: attempt.progress() };
        return attempt.begun() ? lost : { ...lost, begun: false };
      }
      throw toActivityFailure(error);
    } finally {
      attempt.close();
    }
  };
}

/** Returns true if the worker's time to drain is over. */
function isShutdown({ reason }: AbortSignal): boolean {
  return reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
}

function toActivityFailure(error: unknown): unknown {
  if (error instanceof AttemptCancelled) return new CancelledFailure(error.message);
  if (!(error instanceof AttemptFailure)) return error;
  const { type, afterMs, isExpected } = error.next;
  return ApplicationFailure.create({
    message: error.message,
    type,
    ...(afterMs !== undefined && { nextRetryDelay: afterMs }),
    ...(isExpected === true && { category: ApplicationFailureCategory.BENIGN }),
  });
}

const HEARTBEAT_MS = 1_000;
/** Leased attempts have a long time-out, within which they send three heartbeats. */
const LONG_TIMEOUT_MS = 30_000;
const BEATS_PER_TIMEOUT = 3;
/** A worker whose write was not answered for this long leaves its attempts to other workers. */
const CANNOT_WRITE_MS = 10_000;

/**
 * Registers the attempt under the worker's lease. Heartbeats are the backstop: a timer sends them
 * even while the model is silent. The first comes after a pause, since the time-out counts from the
 * start anyway, and short work saves the server a write.
 *
 * A worker that cannot write sends no heartbeat and takes no attempt: another worker may reach the
 * store. If none does, a running attempt still ends with its own outcome.
 *
 * @param ref lease fields that the workflow sent
 * @throws ApplicationFailure `StoreUnreachable`, retryable
 */
function openAttempt(
  { unansweredMs = () => 0, lease }: Pick<ActivityDeps, 'unansweredMs' | 'lease'>,
  ref: LeaseRef,
  details: () => unknown,
): Attempt {
  const canWrite = (): boolean => unansweredMs() < CANNOT_WRITE_MS;
  if (!canWrite() || lease?.isHeld() === false)
    throw ApplicationFailure.retryable('the store does not answer', STORE_UNREACHABLE);
  const context = Context.current();
  // Captured here: context functions do not work inside abort listeners.
  const { cancellationSignal } = context;
  const { heartbeatTimeoutMs, scheduledTimestampMs, startToCloseTimeoutMs } = context.info;
  const { max, withinMs } = LIMITS.attempts;
  const startedMs = performance.now();
  const beat = (): void => {
    if (canWrite()) context.heartbeat(details());
  };
  const timeoutMs = heartbeatTimeoutMs ?? 0;
  const isShort = timeoutMs < LONG_TIMEOUT_MS;
  const timer = setInterval(beat, isShort ? HEARTBEAT_MS : timeoutMs / BEATS_PER_TIMEOUT);
  const held = holdAttempt(lease, ref, context.info);
  let progress: unknown;
  let isUnbegun = false;
  return {
    number: numberOf(context.info, ref),
    token: tokenOf(context.info, ref),
    ...createCut(cancellationSignal),
    cancelled: () => cancellationSignal.aborted,
    ageMs: () => Date.now() - scheduledTimestampMs,
    outlived: () => performance.now() - startedMs >= startToCloseTimeoutMs,
    budget: { max, withinMs: Math.max(withinMs, startToCloseTimeoutMs * (max + 1)) },
    ...held,
    leaveProgress: () => {
      progress = details();
      held.note(progress);
    },
    progress: () => progress,
    noteUnbegun: () => {
      isUnbegun = true;
    },
    begun: () => !isUnbegun,
    close: () => {
      clearInterval(timer);
      held.release();
    },
  };
}
