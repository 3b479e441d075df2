import { rootOf } from '../protocol/ids.js';
import { isTerminal, type RunError, type StopRequest } from '../protocol/run.js';
import type { Act } from '../store/contract/audit.js';
import { noteInBackground } from '../store/contract/due.js';
import type { StopResult } from '../store/contract/runs.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { forceEnd } from './record/force-end.js';
import { toHeld } from './agent-pauses.js';
import { FIRST_SWEEP_MS, type RunsCore } from './deps.js';

/** Stops runs, and ends those that cannot end themselves. */
export interface Stops {
  stop: (
    sessionId: string,
    request: StopRequest & { runId?: string; act?: Act },
  ) => Promise<StopResult>;
  /** Lets the streaming step end the run, and enforces the stop if its writer does not confirm. */
  executeStop: (sessionId: string, runId: string) => void;
  /** Fences off a writer that has not confirmed the stop, and commits its partial reply. */
  enforceStop: (sessionId: string, runId: string) => Promise<void>;
  /**
   * Ends a run whose workflow is gone, with the notice that the workflow would have started; the
   * partial reply is kept. Default: `framework_run_lost`.
   */
  endLost: (record: SessionRecord, error?: RunError) => Promise<void>;
  /** The same for a run whose workflow never started. */
  endUnstarted: (record: SessionRecord) => Promise<void>;
}

/** Time for a writer to confirm a stop before the run ends without it. */
const CONFIRM_MS = 2_000;

const RUN_LOST: RunError = {
  code: 'framework_run_lost',
  message: 'The run was ended from outside. Send a message to continue.',
  retryable: true,
};
const ENGINE_UNAVAILABLE: RunError = {
  code: 'engine_unavailable',
  message: 'The agents could not be reached in time. Send a message to try again.',
  retryable: true,
};

export function createStops(deps: RunsCore): Stops {
  const { store, streamManager, workflows, pauses, deliveries, lostSignal, logger } = deps;
  const stores = { store, streamManager };

  async function enforceStop(sessionId: string, runId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || isTerminal(record.status)) return;
    const status = record.stop?.mode === 'abort' ? 'aborted' : 'interrupted';
    await forceEnd(stores, record, { status, now: Date.now() });
  }

  function executeStop(sessionId: string, runId: string): void {
    const mailbox = store.leases?.of(workflows.namespace);
    void mailbox?.noteStop({ sessionId, runId }).catch(lostSignal(runId));
    setTimeout(() => {
      enforceStop(sessionId, runId).catch(lostSignal(runId));
    }, CONFIRM_MS).unref();
  }

  async function dropHeld(sessionId: string, runId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId === runId) await pauses.drop(toHeld(record));
  }

  /** Announces the end; an outage of Temporal must not keep the run from ending. */
  async function notice({ sessionId, runId, agent, parent }: SessionRecord, code: string) {
    const isWanted = deliveries?.notify?.ends.includes('failed') === true;
    if (!isWanted || parent !== undefined) return;
    try {
      await deliveries.announceEnd({ sessionId, runId, agent, status: 'failed', code });
    } catch (error) {
      logger.warn({ err: error, runId }, 'the end of a run has no notice');
    }
  }

  async function endLost(record: SessionRecord, error = RUN_LOST): Promise<void> {
    // The notice comes first, so that a process which dies in between does both again. It waits for
    // the end in the record, which has another status if the run ended before.
    await notice(record, error.code);
    await forceEnd(stores, record, { status: 'failed', error, now: Date.now() });
  }

  return {
    executeStop,
    enforceStop,
    endLost,
    endUnstarted: (record) => endLost(record, ENGINE_UNAVAILABLE),
    stop: async (sessionId, request) => {
      // The signal may be lost, and the sweeper looks at waiting sessions rarely.
      const noted = noteInBackground(store.due, rootOf(sessionId), FIRST_SWEEP_MS);
      const result = await store.runs.stop(sessionId, request, noted);
      if (result.kind === 'stopping') executeStop(sessionId, result.runId);
      else if (result.kind === 'ended') {
        const { runId, waited: ended } = result;
        void workflows.wake(runId, { ended }).catch(lostSignal(runId));
        // The run has ended; the release drops it otherwise.
        if (result.unstarted === true) await dropHeld(sessionId, runId).catch(lostSignal(runId));
      }
      return result;
    },
  };
}
