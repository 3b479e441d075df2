import type { Connection } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';
import { SEALED_FAILURE } from '../protocol/temporal.js';
import { withTimeout } from '../protocol/time.js';

export interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** Quotes a value for Temporal's queries. */
export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export function toMs(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}

/** Returns true for gRPC's invalid argument (3) and unimplemented (12); a retry does not help. */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error);
  return code === 3 || code === 12;
}

/**
 * gRPC: cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable,
 * data loss. Too large a message also is an exhausted resource, but fails again.
 */
const PASSING = new Set([1, 2, 4, 8, 10, 13, 14, 15]);

/** Returns true if a retry may succeed. An error without a code is of this side, and would recur. */
export function mayPass(error: unknown): boolean {
  const { code, message } = statusOf(error) ?? {};
  if (code === undefined || !PASSING.has(code)) return false;
  return code !== 8 || !/larger than/i.test(message ?? '');
}

export function codeOf(error: unknown): number | undefined {
  return statusOf(error)?.code;
}

function statusOf(error: unknown): { code: number; message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? { code, message: error.message } : statusOf(error.cause);
}

/** Returns the text of a failure, which with a payload codec is in the details of it or its cause. */
export function textOfFailure(failure: Error): string {
  const { message, cause } = failure;
  if (message !== SEALED_FAILURE) return message;
  const { details = [] } = failure as { details?: unknown[] | null };
  const { message: text } = (details?.at(-1) ?? {}) as { message?: unknown };
  if (typeof text === 'string') return text;
  return cause instanceof Error ? textOfFailure(cause) : message;
}

/** A request waits at most this long for Temporal; the SDK's own deadline fires late. */
const DEADLINE_MS = 1_500;

/**
 * Races a call to Temporal against the deadline.
 * @throws HelixError `unavailable` when it is over
 */
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

/** Returns true for gRPC's cancelled (1), timed out (4), exhausted (8) and unavailable (14). */
function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === 1 || code === 4 || code === 8 || code === 14;
}

const underWay = new WeakMap<object, Set<Promise<unknown>>>();

/** Tracks a call to Temporal until it has settled, even if its caller stops waiting. */
export function noteCall(connection: object, call: Promise<unknown>): void {
  const calls = underWay.get(connection) ?? new Set();
  underWay.set(connection, calls.add(call));
  const forget = (): unknown => calls.delete(call);
  call.then(forget, forget);
}

/**
 * Resolves once no call is in progress, little later than their deadline. Close a connection only
 * then: the SDK retries a call from a timer, which throws on a closed connection.
 */
export async function untilCallsEnd(connection: object): Promise<void> {
  await Promise.allSettled([...(underWay.get(connection) ?? [])]);
}
