import type { BatchInput } from '../../../protocol/batch-run.js';
import { batchWorkflowIdOf } from '../../../protocol/ids.js';
import { BATCH_WORKFLOW_TYPE } from '../../../protocol/temporal-names.js';
import type { History, Stage } from './stage.js';

/** Two pages. */
const SIZE = 51;
const items = Array.from({ length: SIZE }, (_, n) => [`gone:${String(n)}-a`, 'c1'] as const);
const counts = { total: SIZE, done: 0, skipped: 0, failed: 0, problems: [] };

/** A batch that denies calls of conversations that were erased meanwhile. */
async function denied(
  { runs, stores }: Stage,
  batchId: string,
  given: Partial<BatchInput>,
): Promise<History> {
  const input: BatchInput = { batchId, act: 'deny', rps: 200, counts, ...given };
  await stores.store.batches?.save(batchId, { ...TERMS, items, refused: 0 });
  const { workflow } = runs.client;
  const handle = await workflow.start(BATCH_WORKFLOW_TYPE, {
    workflowId: batchWorkflowIdOf(batchId),
    taskQueue: runs.taskQueue,
    args: [input],
  });
  await handle.result();
  return handle.fetchHistory();
}

const TERMS = { actor: { userId: 'olga', via: 'api' }, reason: 'recalled' } as const;

export const batches: Record<string, (stage: Stage) => Promise<History>> = {
  batch: (stage) => denied(stage, 'b-1', { size: SIZE }),
  /** As an earlier build began it. */
  'batch-with-its-names': (stage) => denied(stage, 'b-2', { ...TERMS, items }),
};
