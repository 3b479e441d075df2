import type { RunError } from '../protocol/run.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import { forceEnd } from '../stores/record/force-end.js';
import type { Deliveries } from './deliveries.js';

interface EndLostDeps {
  stores: Parameters<typeof forceEnd>[0];
  deliveries: Pick<Deliveries, 'notify' | 'announceEnd'> | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

/** Ends runs whose workflow is gone, or never was, with the notice that it would have started. */
export function createEndLost({ stores, deliveries, logger }: EndLostDeps): {
  endLost: (record: SessionRecord, error?: RunError) => Promise<void>;
  endUnstarted: (record: SessionRecord) => Promise<void>;
} {
  /** While Temporal is away there is no notice, and the run ends: people must be able to continue. */
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
    // First, so that a process which dies in between does both again. The notice waits for the end in
    // the record, which has another status if the run ended before.
    await notice(record, error.code);
    await forceEnd(stores, record, { status: 'failed', error, now: Date.now() });
  }

  return { endLost, endUnstarted: (record) => endLost(record, ENGINE_UNAVAILABLE) };
}

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
