import { setTimeout as pause } from 'node:timers/promises';
import { saysNotNow } from './errors.js';

/** Runs a command on Redis and decides how temporary refusals are handled. */
export type Send = <T>(work: () => Promise<T>) => Promise<T>;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Reports refusals to the caller at once. */
export const sendOnce: Send = (work) => work();

/**
 * Resends a command while Redis temporarily refuses it, which means that nothing was executed.
 * Workers wait like this, as they wait for a connection, so that model output is not paid for
 * twice.
 *
 * @param isEnded true once this process has closed the connection
 */
export function waitOutRefusals(isEnded: () => boolean): Send {
  return async (work) => {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!saysNotNow(error) || isEnded()) throw error;
      }
      await pause(wait, undefined, { ref: false });
    }
  };
}
