import type { Store } from '../contract/store.js';
import { oneAtATime } from './one-at-a-time.js';

export interface FoldLogger {
  warn: (fields: object, message: string) => void;
}

/**
 * A store whose transitions keep what owners are charged up to date: each change of a session is
 * followed by a fold, beside what the process does next. What gets lost with the process is found by the next fold, or by
 * those who look through an owner's conversations.
 */
export function foldAfterChanges(store: Store, logger: FoldLogger): Store {
  const { owners } = store;
  const fold = oneAtATime(
    (sessionId) => owners.fold(sessionId),
    (error, sessionId) => {
      const fields = { err: error, sessionId };
      logger.warn(fields, 'what a conversation counts for was not brought up to date');
    },
  );

  function after<Input, Result>(
    change: (input: Input) => Promise<Result>,
    sessionOf: (input: Input) => string,
  ): (input: Input) => Promise<Result> {
    return async (input) => {
      const result = await change(input);
      fold(sessionOf(input));
      return result;
    };
  }

  const { runs, steps, calls, queue } = store;
  return {
    ...store,
    runs: {
      ...runs,
      end: after(runs.end, ({ sessionId }) => sessionId),
      stop: async (sessionId, stop) => {
        const result = await runs.stop(sessionId, stop);
        fold(sessionId);
        return result;
      },
    },
    steps: { ...steps, commit: after(steps.commit, ({ writer }) => writer.sessionId) },
    calls: {
      ...calls,
      settle: after(calls.settle, (input) =>
        input.source === 'tool' ? input.writer.sessionId : input.sessionId,
      ),
    },
    queue: {
      ...queue,
      begin: after(queue.begin, ({ sessionId }) => sessionId),
      edit: after(queue.edit, ({ sessionId }) => sessionId),
      remove: after(queue.remove, ({ sessionId }) => sessionId),
    },
  };
}
