import { type Attempt, AttemptFailure, createCut } from '../../activities/attempt.js';
import { NOT_HELD } from '../../activities/lease.js';
import { LIMITS } from '../../protocol/limits.js';
import { retryDelay } from '../../protocol/time.js';
import { pause, type Clock } from './clock.js';

/** Thrown when this process leaves its runs; a process that recovers them continues. */
export class LeftOff extends Error {
  override readonly name = 'LeftOff';
}

/** Thrown when another process has taken the run over. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

/** Limits that a tool's author sets for one call. */
export interface AttemptLimits {
  max?: number | undefined;
  withinMs?: number | undefined;
}

/** Thrown when the author's limits are reached. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
  readonly how: 'failed' | 'timed_out';

  constructor(how: GivenUp['how']) {
    super(how);
    this.how = how;
  }
}

export interface Attempts {
  /**
   * Makes attempts one after the other until one succeeds. The store counts them and decides which work
   * may be repeated.
   *
   * @throws LeftOff, TakenOver; GivenUp once the limits are reached
   */
  untilDone: <T>(work: (attempt: Attempt) => Promise<T>, limits?: AttemptLimits) => Promise<T>;
  /**
   * Repeats short work while the store is away, and a few times after other failures.
   * @throws LeftOff, and errors of the work
   */
  untilStored: <T>(work: () => Promise<T>) => Promise<T>;
}

const RETRY = { firstMs: 200, mostMs: 5_000 };
/** After this many failures, unless by an outage, short work is given up: repeating does not help. */
const MAX_FAULTS = 10;
/** Distance between the tokens of two attempts. A leg numbers its calls' executions in between. */
const APART = 1_000;

/** @param signal aborts when the process leaves its runs */
export function createAttempts({
  clock,
  signal,
  logger,
}: {
  clock: Clock;
  signal: AbortSignal;
  logger: { warn: (fields: object, message: string) => void };
}): Attempts {
  let token = 0;
  const nextToken = (): number => (token = Math.max(token + APART, Date.now() * APART));

  function stay(): void {
    if (signal.aborted) throw new LeftOff();
  }

  async function rest(attempt: number, afterMs?: number): Promise<void> {
    await pause(clock, afterMs ?? retryDelay({ attempt, ...RETRY }), signal);
    stay();
  }

  return {
    untilDone: async (work, { max = Infinity, withinMs = Infinity } = {}) => {
      const beganMs = clock.now();
      for (let number = 1; ; number += 1) {
        stay();
        try {
          return await work(openLocalAttempt(number, nextToken(), beganMs, signal));
        } catch (error) {
          stay();
          const isFailure = error instanceof AttemptFailure;
          if (isFailure && error.next.type === 'fenced') throw new TakenOver();
          if (!isFailure) logger.warn({ err: error }, 'an attempt has failed');
          if (number >= max) throw new GivenUp('failed');
          await rest(number, isFailure ? error.next.afterMs : undefined);
          if (clock.now() - beganMs >= withinMs) throw new GivenUp('timed_out');
        }
      }
    },
    untilStored: async (work) => {
      for (let number = 1; ; number += 1) {
        stay();
        try {
          return await work();
        } catch (error) {
          if (number >= MAX_FAULTS && !isOutage(error)) throw error;
          logger.warn({ err: error }, 'a step of a run is repeated');
          await rest(number);
        }
      }
    },
  };
}

function isOutage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'unavailable';
}

/** Creates an attempt of this process, which no engine counts and no lease registers. */
export function openLocalAttempt(
  number: number,
  token: number,
  beganMs: number,
  leaving: AbortSignal,
): Attempt {
  return {
    number,
    token,
    ...createCut(leaving),
    cancelled: () => leaving.aborted,
    ageMs: () => Date.now() - beganMs,
    outlived: () => false,
    budget: LIMITS.attempts,
    ...NOT_HELD,
    leaveProgress: () => undefined,
    progress: () => undefined,
    noteUnbegun: () => undefined,
    begun: () => true,
    close: () => undefined,
  };
}
