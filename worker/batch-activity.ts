import { Context } from '@temporalio/activity';
import { createBatchPage, type BatchPageDeps } from '../executor/batch-page.js';
import type { BatchActivities } from '../protocol/batch-run.js';

/** The activity of batches: it acts as the API does, so it needs the runs and not only their record. */
export function createBatchActivities(deps: BatchPageDeps): BatchActivities {
  const act = createBatchPage(deps);
  return {
    batchPage: async (ref) => {
      const { cancellationSignal: signal, heartbeat } = Context.current();
      const beating = setInterval(heartbeat, BEAT_MS);
      try {
        return await act(ref, { signal, beat: heartbeat });
      } finally {
        clearInterval(beating);
      }
    },
  };
}

/** A single act may take as long as a rule of the host. */
const BEAT_MS = 2_000;
