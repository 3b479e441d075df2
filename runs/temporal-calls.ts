import type { Connection } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';
import { withTimeout } from '../protocol/time.js';

/** Time of Temporal's API. */
export interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** ms since the epoch; 0 for none. */
export function toMs(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}

/** gRPC: an invalid argument (3), or a request that the server does not know (12). Trying again does not help. */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error);
  return code === 3 || code === 12;
}

/**
 * gRPC: cancelled (1), unknown (2), deadline exceeded (4), resource exhausted (8), aborted (10), internal (13),
 * unavailable (14), data loss (15). A message that is too large has 8 as well and does not pass.
 */
const PASSING = new Set([1, 2, 4, 8, 10, 13, 14, 15]);

/** True if the same request may succeed later. What has no code failed on this side, and would again. */
export function mayPass(error: unknown): boolean {
  const { code, message } = statusOf(error) ?? {};
  if (code === undefined || !PASSING.has(code)) return false;
  return code !== 8 || !/larger than/i.test(message ?? '');
}

/** The gRPC status of an error, or of what caused it. */
export function codeOf(error: unknown): number | undefined {
  return statusOf(error)?.code;
}

function statusOf(error: unknown): { code: number; message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? { code, message: error.message } : statusOf(error.cause);
}

/** A server without the search attributes of runs. */
export function unlisted(cause?: unknown): HelixError {
  const text = 'Runs cannot be listed: this server lacks their search attributes.';
  return new HelixError('unavailable', text, { cause });
}

/** A request waits at most this long for Temporal; the SDK's own deadline fires late. */
const DEADLINE_MS = 1_500;

/** Races a call to Temporal against the deadline. @throws HelixError `unavailable` when it is over */
export async function withinDeadline<T>(
  connection: Pick<Connection, 'withDeadline'>,
  call: () => Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const late = (): Error => unavailable(new Error(`no answer within ${String(deadlineMs)} ms`));
  try {
    const answer = connection.withDeadline(Date.now() + deadlineMs, call);
    noteCall(connection, answer);
    return await withTimeout(deadlineMs, answer, { late });
  } catch (error) {
    throw isOutage(error) ? unavailable(error) : error;
  }
}

function unavailable(cause: unknown): HelixError {
  return HelixError.isInstance(cause)
    ? cause
    : new HelixError('unavailable', 'The agents cannot be reached right now.', { cause });
}

/** gRPC: cancelled by a server that gave up (1), deadline exceeded (4), resource exhausted (8), unavailable (14). */
function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === 1 || code === 4 || code === 8 || code === 14;
}

const underWay = new WeakMap<object, Set<Promise<unknown>>>();

/** Notes a call to Temporal until it has settled, also once its caller no longer waits for it. */
export function noteCall(connection: object, call: Promise<unknown>): void {
  const calls = underWay.get(connection) ?? new Set();
  underWay.set(connection, calls.add(call));
  const forget = (): unknown => calls.delete(call);
  call.then(forget, forget);
}

/**
 * Resolves when no call is under way, which takes little more than their deadline. A connection is closed
 * after that: the SDK repeats a call from a timer, which throws on a closed connection.
 */
export async function untilCallsEnd(connection: object): Promise<void> {
  await Promise.allSettled([...(underWay.get(connection) ?? [])]);
}
