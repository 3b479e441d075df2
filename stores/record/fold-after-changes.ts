import { rootOf } from '../../protocol/ids.js';
import type { Store } from '../contract/store.js';

export interface FoldLogger {
  warn: (fields: object, message: string) => void;
}

/**
 * A store whose transitions keep what owners are charged up to date: each change of a session is
 * followed by a fold, beside what the process does next. What gets lost with the process is found by the next fold, or by
 * those who look through an owner's conversations.
 */
export function foldAfterChanges(store: Store, logger: FoldLogger): Store {
  const fold = createFolding(store, logger);

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

/** One fold of a session at a time; what changes meanwhile is folded behind it, once. */
function createFolding(
  { owners }: Pick<Store, 'owners'>,
  logger: FoldLogger,
): (sessionId: string) => void {
  const underWay = new Map<string, { changes: number }>();

  async function fold(sessionId: string, state: { changes: number }): Promise<void> {
    try {
      let folded: number;
      do {
        folded = state.changes;
        await owners.fold(sessionId);
      } while (folded !== state.changes);
    } catch (error) {
      logger.warn(
        { err: error, sessionId },
        'what a conversation counts for was not brought up to date',
      );
    } finally {
      underWay.delete(sessionId);
    }
  }

  return (changed) => {
    const sessionId = rootOf(changed);
    const running = underWay.get(sessionId);
    if (running !== undefined) {
      running.changes += 1;
      return;
    }
    const state = { changes: 0 };
    underWay.set(sessionId, state);
    void fold(sessionId, state);
  };
}
