import { setTimeout as pause } from 'node:timers/promises';
import { saysNotNow } from './errors.js';

/** Does work on Redis; the caller learns what becomes of it. */
export type Insist = <T>(work: () => Promise<T>) => Promise<T>;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Refusals reach the caller at once. */
export const askOnce: Insist = (work) => work();

/**
 * Sends the same again while Redis says that it cannot serve now: it did nothing. A worker waits so,
 * as it waits while there is no connection; what a model has said is not paid for twice.
 *
 * @param isEnded true once the connection was closed by this process
 */
export function waitOutRefusals(isEnded: () => boolean): Insist {
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
