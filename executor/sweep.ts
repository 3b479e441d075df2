import { HelixError } from '../protocol/errors.js';
import type { DueSession } from '../stores/contract/due.js';
import type { Store } from '../stores/contract/store.js';
import { decideSweep } from './decide-sweep.js';
import type { RunExecutor } from './temporal-executor.js';

/** A session is looked at again after this long. */
const INTERVAL_MS = 5_000;
/** Sessions looked at in one sweep; the rest comes in the next one, oldest first. */
const PER_SWEEP = 200;
const AT_ONCE = 10;

export interface SweepDeps {
  store: Pick<Store, 'due' | 'waiting' | 'sessions'>;
  executor: Pick<RunExecutor, 'attend'>;
  /** Who sweeps; only one process does at a time. */
  holder: string;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * One sweep over sessions that may need attention. Does nothing while another process sweeps.
 */
export function createSweep(deps: SweepDeps): () => Promise<void> {
  const { store, executor, holder, logger } = deps;

  async function lookAt(session: DueSession, isLate: boolean): Promise<void> {
    const found = await executor.attend(session.sessionId);
    if (found === 'rests') await forget(session.sessionId);
    else if (found !== 'lives' && isLate) await store.due.postpone(session, found.waitsMs);
  }

  /** A run may begin between the look and the removal: then its session belongs on the list. */
  async function forget(sessionId: string): Promise<void> {
    await Promise.all([store.due.forget(sessionId), store.waiting.forget(sessionId)]);
    const record = await store.sessions.read(sessionId);
    if (decideSweep(record, 'closed', Date.now()) !== 'forget') await store.due.note(sessionId, 0);
  }

  return async () => {
    if (!(await store.due.leaseSweep(holder, INTERVAL_MS - 500))) return;
    const due = await store.due.take(PER_SWEEP, INTERVAL_MS);
    // More are due than one sweep looks at: what waits for people gives way to what is active.
    const isLate = due.length === PER_SWEEP;
    const next = due.values();
    const look = async (): Promise<void> => {
      for (const session of next) {
        const { sessionId } = session;
        try {
          await lookAt(session, isLate);
        } catch (error) {
          // An outage: this session is due again. Anything else should be read by somebody.
          if (!HelixError.isInstance(error)) logger.warn({ err: error, sessionId }, 'sweep failed');
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
  };
}
