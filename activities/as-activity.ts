import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { LeaseRef, LostAttempt } from '../protocol/activities.js';
import { AttemptCancelled, AttemptFailure } from './attempt-failure.js';
import type { Attempt } from './attempt.js';
import type { ActivityDeps } from './deps.js';
import { openAttempt } from './open-attempt.js';

/**
 * An activity of Temporal around work that knows attempts only.
 *
 * @param toDetails what the heartbeats report, given what the attempt before has reported, or left
 * when it was lost; the work keeps it current
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
      // No retry timer, whose grain is a second: the workflow schedules it again at once.
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

/** True if the worker's time to drain is over. */
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
