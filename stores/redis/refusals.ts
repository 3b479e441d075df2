import { setTimeout as pause } from 'node:timers/promises';
import { retryDelay } from '../../protocol/time.js';
import { saysNotNow } from './errors.js';

/** Runs a command on Redis and decides how temporary refusals are handled. */
export type Send = <T>(work: () => Promise<T>) => Promise<T>;

const RETRY = { firstMs: 50, mostMs: 1_000 };

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
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!saysNotNow(error) || isEnded()) throw error;
      }
      await pause(retryDelay({ attempt, ...RETRY }), undefined, { ref: false });
    }
  };
}
