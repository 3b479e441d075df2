import type { Attempt } from '../attempt.js';

/** What differs from the attempt of the leg. */
type Own = Partial<Pick<Attempt, 'number' | 'token' | 'ageMs'>>;

/**
 * An attempt at one step or call within the attempt of a leg: it ends with the leg's, and is cut
 * alone if it has lost its own writer.
 */
export function innerAttempt(leg: Attempt, own: Own = {}): Attempt {
  const controller = new AbortController();
  let reason: ReturnType<Attempt['cutReason']>;
  return {
    ...leg,
    ...own,
    signal: AbortSignal.any([leg.signal, controller.signal]),
    cut: (cause) => {
      reason ??= cause;
      controller.abort(new Error(`cut: ${cause}`));
    },
    cutReason: () => leg.cutReason() ?? reason,
    // Not so for the leg, whose other calls and steps have begun.
    noteUnbegun: () => undefined,
    close: () => undefined,
  };
}
