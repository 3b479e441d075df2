import { rootOf } from '../../protocol/ids.js';
import type { Act, AuditEntry } from '../contract/audit.js';
import type { Store } from '../contract/store.js';

export interface AuditLogger {
  info?: ((fields: object, message: string) => void) | undefined;
  warn: (fields: object, message: string) => void;
}

/**
 * A store whose acts are relayed to the audit chain right after they are done, beside what the
 * process does next. What gets lost with the process is relayed by the sweeper: the session is noted
 * as due before the act.
 */
export function relayAfterActs(store: Store, logger: AuditLogger): Store {
  const relay = createRelaying(store, logger);

  function after<Input extends { sessionId: string; act?: Act }, Result>(
    change: (input: Input) => Promise<Result>,
  ): (input: Input) => Promise<Result> {
    return async (input) => {
      const result = await change(input);
      if (input.act !== undefined) relay(input.sessionId);
      return result;
    };
  }

  const { runs, calls, sessions } = store;
  return {
    ...store,
    sessions: { ...sessions, branch: after(sessions.branch) },
    runs: {
      ...runs,
      resume: after(runs.resume),
      rewind: after(runs.rewind),
      stop: async (sessionId, stop) => {
        const result = await runs.stop(sessionId, stop);
        if (stop.act !== undefined) relay(sessionId);
        return result;
      },
    },
    calls: {
      ...calls,
      extendDeadline: after(calls.extendDeadline),
      settle: async (input) => {
        const result = await calls.settle(input);
        if ('act' in input && input.act !== undefined) relay(input.sessionId);
        return result;
      },
    },
  };
}

/** One relay of a session at a time; what is done meanwhile is relayed behind it, once. */
function createRelaying(
  { audit }: Pick<Store, 'audit'>,
  logger: AuditLogger,
): (sessionId: string) => void {
  const underWay = new Map<string, { acts: number }>();

  async function relay(sessionId: string, state: { acts: number }): Promise<void> {
    try {
      let relayed: number;
      do {
        relayed = state.acts;
        logEntries(logger, await audit.relay(sessionId));
      } while (relayed !== state.acts);
    } catch (error) {
      logger.warn({ err: error, sessionId }, 'acts were not relayed to the audit trail yet');
    } finally {
      underWay.delete(sessionId);
    }
  }

  return (changed) => {
    const sessionId = rootOf(changed);
    const running = underWay.get(sessionId);
    if (running !== undefined) {
      running.acts += 1;
      return;
    }
    const state = { acts: 0 };
    underWay.set(sessionId, state);
    void relay(sessionId, state);
  };
}

/** A line of the log for each entry, so that a copy of the trail is kept elsewhere. */
export function logEntries(logger: AuditLogger, entries: readonly AuditEntry[]): void {
  for (const entry of entries) logger.info?.({ audit: entry }, 'audit');
}
