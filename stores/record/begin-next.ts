import { rootOf } from '../../protocol/ids.js';
import type { Store } from '../contract/store.js';

/** Begins the session's next queued run, unless one is at work or nothing waits. */
export type StartNext = (sessionId: string) => Promise<void>;

export interface BeginNextDeps {
  startNext: StartNext;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * A store whose transitions go on with what waits: whoever ends a run begins the next one. A
 * failure to do so is no failure of what has ended; the sweeper begins what nobody began.
 */
export function beginNextAfterEnds(store: Store, { startNext, logger }: BeginNextDeps): Store {
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
