import { EXIT } from '../exit-codes.js';
import { CliFailure } from '../failure.js';

/** So many looks in a row may fail once one has succeeded: a server that is replaced comes back. */
const MOST_MISSES = 5;

/**
 * Looks at something again and again, over a server that may be replaced meanwhile.
 *
 * @param isThere true if the server has answered for it before
 * @returns what a look has found; undefined if the server was away
 * @throws CliFailure for any other refusal, and if the server stays away
 */
export function createPatientLook<T>(
  look: () => Promise<T>,
  isThere = false,
): () => Promise<T | undefined> {
  let hasSeen = isThere;
  let misses = 0;
  return async () => {
    try {
      const found = await look();
      hasSeen = true;
      misses = 0;
      return found;
    } catch (error) {
      misses += 1;
      if (!hasSeen || misses > MOST_MISSES || !isUnavailable(error)) throw error;
      return undefined;
    }
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CliFailure && error.exitCode === EXIT.unavailable;
}
