import type { BatchInput } from '../../../protocol/batch-run.js';
import { batchWorkflowIdOf } from '../../../protocol/ids.js';
import { BATCH_WORKFLOW_TYPE } from '../../../protocol/temporal-names.js';
import type { History, Stage } from './stage.js';

/** Two pages. */
const SIZE = 51;
const items = Array.from({ length: SIZE }, (_, n) => [`gone:${String(n)}-a`, 'c1'] as const);
const counts = { total: SIZE, done: 0, skipped: 0, failed: 0, problems: [] };

/** A batch that denies calls of conversations that were erased meanwhile. */
export async function batch({ runs, stores }: Stage): Promise<History> {
  const batchId = 'b-1';
  const terms = { actor: { userId: 'olga', via: 'api' }, reason: 'recalled' } as const;
  await stores.store.batches?.save(batchId, { ...terms, items, refused: 0 });
  const input: BatchInput = { batchId, act: 'deny', rps: 200, size: SIZE, counts };
  const { workflow } = runs.client;
  const handle = await workflow.start(BATCH_WORKFLOW_TYPE, {
    workflowId: batchWorkflowIdOf(batchId),
    taskQueue: runs.taskQueue,
    args: [input],
  });
  await handle.result();
  return handle.fetchHistory();
}
