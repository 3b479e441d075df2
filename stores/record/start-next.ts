import { rootOf } from '../../protocol/ids.js';
import type { Store } from '../contract/store.js';

/** Begins the session's next queued run, unless a run is active or the queue is empty. */
export type StartNext = (sessionId: string) => Promise<void>;

export interface StartNextDeps {
  startNext: StartNext;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * A store that begins the next queued run after each transition that ends a run. If that fails, the
 * end stays successful, and the sweeper begins the next run.
 */
export function startNextAfterEnds(store: Store, { startNext, logger }: StartNextDeps): Store {
  async function after<R extends { kind: string }>(
    sessionId: string,
    transition: Promise<R>,
  ): Promise<R> {
    const result = await transition;
    if ('next' in result) {
      await startNext(rootOf(sessionId)).catch((error: unknown) => {
        logger.warn({ err: error, sessionId }, 'the next queued run was not begun');
      });
    }
    return result;
  }

  return {
    ...store,
    steps: {
      ...store.steps,
      commit: (input) => after(input.writer.sessionId, store.steps.commit(input)),
    },
    runs: {
      ...store.runs,
      stop: (sessionId, stop) => after(sessionId, store.runs.stop(sessionId, stop)),
      end: (input) => after(input.sessionId, store.runs.end(input)),
    },
  };
}
