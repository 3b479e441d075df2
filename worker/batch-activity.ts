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
        deps.logger.warn({ err: error, batchId: ref.batchId }, 'a page of a batch failed');
        throw toFailure(error);
      } finally {
        clearInterval(beating);
      }
    },
    batchEnd: async (batchId) => batches?.end(batchId),
  };
}

/** Temporal keeps failures as well, and texts of errors name runs; the log has the text. */
function toFailure(error: unknown): ApplicationFailure {
  const type = HelixError.isInstance(error) ? error.code : 'internal_error';
  // No later attempt finds the work of a batch that has none any more.
  const nonRetryable = type === 'not_found';
  return ApplicationFailure.create({ message: 'The batch could not act.', type, nonRetryable });
}

/** A single act may take as long as a rule of the host. */
const BEAT_MS = 2_000;
