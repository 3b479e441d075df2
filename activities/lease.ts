import type { Info } from '@temporalio/activity';
import type { LeaseRef } from '../protocol/activities.js';
import { attemptIdOf } from '../protocol/ids.js';
import type { HeldWork } from '../store/contract/leases.js';

/** The lease of the worker process that carries attempts out. */
export interface Lease {
  /** Registers an attempt, so that another worker takes it over when this process dies. */
  hold: (work: HeldWork) => Held;
  /**
   * Listens to stops of a conversation's runs, which renewals bring. One may come several times.
   *
   * @returns ends it
   */
  onStop: (sessionId: string, listener: (runId: string) => void) => () => void;
  /**
   * False once the lease has lapsed for a while: this process, whose attempts others may have taken
   * over, begins nothing more until it is held again.
   */
  isHeld: () => boolean;
}

/** A call that a tool executes. */
export interface ExecutedCall {
  toolCallId: string;
  toolName: string;
}

/** A registered attempt. */
export interface Held {
  /** Resolves once it is registered. @throws Error if that takes too long: the attempt cannot begin */
  registered: Promise<void>;
  /**
   * Until the returned function is called, the attempt is taken over only after a while: it carries
   * out a call that may not be repeated. Resolves once that is registered.
   */
  becomePatient: () => Promise<() => void>;
  /** Until the returned function is called, the tool may be what holds up this process. */
  executing: (call: ExecutedCall) => () => void;
  /** Keeps what the attempt leaves for its successor, in case it is lost; soon, and the newest. */
  note: (progress: unknown) => void;
  release: () => void;
}

/** An attempt of a worker without a lease, or of a workflow that knows none. */
const NOT_HELD: Held = {
  registered: Promise.resolve(),
  becomePatient: () => Promise.resolve(() => undefined),
  executing: () => () => undefined,
  note: () => undefined,
  release: () => undefined,
};

/** Tokens of attempts differ by thousands: a leg counts its calls' executions in between. */
const APART = 1000;

/**
 * The fence token of an attempt: its place in the order of attempts, also over a reset of the
 * workflow. It is higher than that of the attempt it replaces, whatever the server's clock says.
 */
export function tokenOf(
  { attempt, currentAttemptScheduledTimestampMs }: AttemptInfo,
  { replaces }: LeaseRef = {},
): number {
  const byClock = currentAttemptScheduledTimestampMs * 1000 + Math.min(attempt, 999);
  return Math.max(byClock, (replaces?.token ?? 0) + attempt * APART);
}
type AttemptInfo = Pick<Info, 'attempt' | 'currentAttemptScheduledTimestampMs'>;

/** The attempt's number, from 1, with those before it that were lost. */
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
