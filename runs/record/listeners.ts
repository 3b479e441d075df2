import { rootOf } from '../../protocol/ids.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import type { Event } from '../../session/events.js';
import type { Listener } from '../../store/change.js';
import type { AuditEntry } from '../../store/contract/audit.js';
import type { Store } from '../../store/contract/store.js';

/**
 * Listeners of changes: metrics, and work beside the record. They run after the commit, so
 * a dying process skips them: the change stores, or the sweeper finds, whatever must not be lost.
 */

export interface AuditLogger {
  info?: ((fields: object, message: string) => void) | undefined;
  warn: (fields: object, message: string) => void;
}

/** Begins the session's next queued run, unless a run is active or the queue is empty. */
export type StartNext = (sessionId: string) => Promise<void>;

export interface ListenersDeps {
  meter: RunMeter;
  startNext: StartNext;
  others?: readonly Listener[];
  logger: AuditLogger;
}

/** Creates a store that reports changes to all listeners, in API, worker and one process alike. */
export function listenToChanges(store: Store, deps: ListenersDeps): Store {
  const { owners, audit } = store;
  const { meter, startNext, others = [], logger } = deps;
  const warn = (message: string) => (error: unknown, sessionId: string) => {
    logger.warn({ err: error, sessionId }, message);
  };
  // The next fold or the recount makes up for a lost update of charges.
  const fold = oneAtATime(
    (sessionId) => owners.fold(sessionId),
    warn('what a conversation counts for was not brought up to date'),
  );
  // The sweeper relays the acts that a lost process left, and begins the run.
  const relay = oneAtATime(async (sessionId) => {
    logEntries(logger, await audit.relay(sessionId));
  }, warn('acts were not relayed to the audit trail yet'));
  const unbegun = warn('the next queued run was not begun');
  const begin = (sessionId: string): void => {
    startNext(rootOf(sessionId)).catch((error: unknown) => {
      unbegun(error, sessionId);
    });
  };
  const listeners = [
    metered(meter),
    charging(fold),
    after('act_noted', relay),
    after('next_waits', begin),
    ...others,
  ];
  const changes = store.listening((sessionId, events) => {
    for (const listener of listeners) {
      try {
        listener(sessionId, events);
      } catch (error) {
        // The change is stored, so a failed listener must not fail it.
        warn('what follows from a change was not done')(error, sessionId);
      }
    }
  });
  return {
    ...store,
    sessions: { ...store.sessions, ...changes.sessions },
    runs: { ...store.runs, ...changes.runs },
    steps: { ...store.steps, ...changes.steps },
    calls: { ...store.calls, ...changes.calls },
    queue: { ...store.queue, ...changes.queue },
  };
}

/** Longest time, ms, by which an owner's sums lag behind the size of an active run. */
const SIZE_MS = 2_000;

function charging(fold: (sessionId: string) => void): Listener {
  const due = new Map<string, NodeJS.Timeout>();
  const foldNow = (sessionId: string): void => {
    clearTimeout(due.get(sessionId));
    due.delete(sessionId);
    fold(sessionId);
  };
  return (changed, events) => {
    const charges = events.filter((event) => event.kind === 'charge_changed');
    if (charges.length === 0) return;
    const sessionId = rootOf(changed);
    if (!charges.every(({ isSize }) => isSize)) foldNow(sessionId);
    else if (!due.has(sessionId))
      due.set(sessionId, setTimeout(foldNow, SIZE_MS, sessionId).unref());
  };
}

function after(kind: Event['kind'], work: (sessionId: string) => void): Listener {
  return (sessionId, events) => {
    if (events.some((event) => event.kind === kind)) work(sessionId);
  };
}

/** Counts a repeated request once, since it gets its first reply and no new events. */
function metered(meter: RunMeter): Listener {
  return (_sessionId, events) => {
    for (const event of events) {
      if (event.kind === 'run_ended' || event.kind === 'attempt_ended') meter(event);
      else if (event.kind === 'wait_ended') meterAnswer(meter, event);
    }
  };
}

function meterAnswer(
  meter: RunMeter,
  { how, call, answer, since, now }: Extract<Event, { kind: 'wait_ended' }>,
): void {
  const isExpired = how === 'expired';
  if (!isExpired && how !== 'answered') return;
  const isResult = answer?.decision === 'result' || answer?.decision === 'error';
  meter({
    kind: 'call_answered',
    asked: isResult || call.kind !== 'approval' ? 'client' : 'approval',
    decision: isExpired ? 'expired' : (answer?.decision ?? 'result'),
    source: isExpired ? 'auto' : (answer?.via ?? 'api'),
    waitedSeconds: Math.max(0, now - since) / 1_000,
  });
}

/** Logs each entry, so that a copy of the trail is kept elsewhere. */
export function logEntries(logger: AuditLogger, entries: readonly AuditEntry[]): void {
  for (const entry of entries) logger.info?.({ audit: entry }, 'audit');
}

/**
 * Does work for conversations in the background, for each once at a time; requests made meanwhile
 * cause one repetition. It begins in a later turn of the event loop, so that the caller's signal
 * does not wait for it.
 */
export function oneAtATime(
  work: (sessionId: string) => Promise<void>,
  onError: (error: unknown, sessionId: string) => void,
): (sessionId: string) => void {
  const underWay = new Map<string, { asked: number }>();

  async function run(sessionId: string, state: { asked: number }): Promise<void> {
    try {
      let done: number;
      do {
        done = state.asked;
        await work(sessionId);
      } while (done !== state.asked);
    } catch (error) {
      onError(error, sessionId);
    } finally {
      underWay.delete(sessionId);
    }
  }

  return (changed) => {
    const sessionId = rootOf(changed);
    const running = underWay.get(sessionId);
    if (running !== undefined) {
      running.asked += 1;
      return;
    }
    const state = { asked: 0 };
    underWay.set(sessionId, state);
    setImmediate(() => void run(sessionId, state));
  };
}
