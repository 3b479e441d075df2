import { ApplicationFailure, Context } from '@temporalio/activity';
import { createBatchPage, type BatchPageDeps } from '../executor/batch-page.js';
import { createBatchWork } from '../executor/batch-work.js';
import type { BatchActivities } from '../protocol/batch-run.js';
import { HelixError } from '../protocol/errors.js';

/** The activity of batches: it acts as the API does, so it needs the runs and not only their record. */
export function createBatchActivities(deps: BatchPageDeps): BatchActivities {
  const { batches } = deps.store;
  const act = createBatchWork({ act: createBatchPage(deps), batches });
  return {
    batchPage: async (ref) => {
      const { cancellationSignal: signal, heartbeat } = Context.current();
      const beating = setInterval(heartbeat, BEAT_MS);
      try {
        return await act(ref, { signal, beat: heartbeat });
      } catch (error) {
        if (!HelixError.isInstance(error) || error.code !== 'not_found') throw error;
        // No later attempt finds the work.
        throw ApplicationFailure.nonRetryable(error.message, error.code);
      } finally {
        clearInterval(beating);
      }
    },
    batchEnd: async (batchId) => batches?.end(batchId),
  };
}

/** A single act may take as long as a rule of the host. */
const BEAT_MS = 2_000;
