import type { Info } from '@temporalio/activity';
import type { LeaseRef } from '../protocol/temporal.js';
import { attemptIdOf } from '../protocol/ids.js';
import type { HeldWork } from '../store/contract/leases.js';

/** Lease of the worker process that executes attempts. */
export interface Lease {
  /** Registers an attempt, so that another worker takes it over when this process dies. */
  hold: (work: HeldWork) => Held;
  /**
   * Listens to stops of a conversation's runs, which renewals deliver, some of them repeatedly.
   *
   * @returns a function that ends the subscription
   */
  onStop: (sessionId: string, listener: (runId: string) => void) => () => void;
  /**
   * False once the lease has lapsed for a while: other workers may have taken over this process's
   * attempts, so it begins nothing more until it holds the lease again.
   */
  isHeld: () => boolean;
}

/** A registered attempt. */
export interface Held {
  /** Resolves once registered. @throws Error if that takes too long: the attempt cannot begin */
  registered: Promise<void>;
  /**
   * Must be called before a call that may not be repeated, so that a worker that merely stalled
   * keeps it: delays a takeover.
   */
  becomePatient: () => Patience;
  /** Marks the tool as a possible blocker of this process until the returned function is called. */
  executing: (call: { toolCallId: string; toolName: string }) => () => void;
  /** Stores the newest progress, with a short delay, for a successor of a lost attempt. */
  note: (progress: unknown) => void;
  release: () => void;
}

/** A delay of the takeover of an attempt. */
export interface Patience {
  /** Resolves once registered. */
  noted: Promise<void>;
  end: () => void;
}

/** Attempt of a worker without a lease, or of a workflow that does not know leases. */
export const NOT_HELD: Held = {
  registered: Promise.resolve(),
  becomePatient: () => ({ noted: Promise.resolve(), end: () => undefined }),
  executing: () => () => undefined,
  note: () => undefined,
  release: () => undefined,
};

/** Distance between tokens of attempts; a leg numbers its calls' executions in between. */
const APART = 1000;

/**
 * Returns the attempt's fence token, which orders attempts even after a reset of the workflow. It
 * exceeds the token of the replaced attempt whatever the server's clock says.
 */
export function tokenOf(
  { attempt, currentAttemptScheduledTimestampMs }: AttemptInfo,
  { replaces }: LeaseRef = {},
): number {
  const byClock = currentAttemptScheduledTimestampMs * 1000 + Math.min(attempt, 999);
  return Math.max(byClock, (replaces?.token ?? 0) + attempt * APART);
}
type AttemptInfo = Pick<Info, 'attempt' | 'currentAttemptScheduledTimestampMs'>;

/** Returns the attempt's number, from 1; counts lost attempts before it. */
export function numberOf({ attempt }: Pick<Info, 'attempt'>, { replaces }: LeaseRef = {}): number {
  return attempt + (replaces?.number ?? 0);
}

/** Registers an attempt if its workflow would schedule it again. */
export function holdAttempt(lease: Lease | undefined, ref: LeaseRef, info: Info): Held {
  const { workflowExecution, base64TaskToken: taskToken, activityId, attempt } = info;
  if (lease === undefined || ref.isLeased !== true || workflowExecution === undefined)
    return NOT_HELD;
  const { workflowId, runId } = workflowExecution;
  const id = attemptIdOf(runId, activityId, attempt);
  const [token, number] = [tokenOf(info, ref), numberOf(info, ref)];
  return lease.hold({ id, taskToken, workflowId, runId, token, number });
}
