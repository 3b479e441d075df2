import type { Act, AuditEntry } from '../contract/audit.js';
import type { Store } from '../contract/store.js';
import { oneAtATime } from './one-at-a-time.js';

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
  const { audit } = store;
  const relay = oneAtATime(
    async (sessionId) => {
      logEntries(logger, await audit.relay(sessionId));
    },
    (error, sessionId) => {
      logger.warn({ err: error, sessionId }, 'acts were not relayed to the audit trail yet');
    },
  );

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

/** A line of the log for each entry, so that a copy of the trail is kept elsewhere. */
export function logEntries(logger: AuditLogger, entries: readonly AuditEntry[]): void {
  for (const entry of entries) logger.info?.({ audit: entry }, 'audit');
}
