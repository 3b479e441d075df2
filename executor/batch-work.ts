import type { BatchPageInput, BatchPageRef, BatchPart } from '../protocol/batch-run.js';
import { HelixError } from '../protocol/errors.js';
import type { Batches } from '../stores/contract/batches.js';
import type { PageWatch } from './batch-page.js';

export interface BatchWorkDeps {
  /** @throws HelixError `unavailable` */
  act: (ref: BatchPageRef, watch: PageWatch) => Promise<BatchPart>;
  batches: Pick<Batches, 'work' | 'refuse'> | undefined;
}

/**
 * Acts on a page of which the workflow knows the place only. What was refused is noted in the record,
 * since the reply stays in the history of the workflow.
 *
 * @throws HelixError `not_found` once the person who began the batch is erased
 */
export function createBatchWork({
  act,
  batches,
}: BatchWorkDeps): (input: BatchPageInput, watch: PageWatch) => Promise<BatchPart> {
  return async (input, watch) => {
    const { from, size, ...order } = input;
    const work = await batches?.work(order.batchId);
    if (work === undefined) throw new HelixError('not_found', 'The batch has no work any more.');
    const { items: all, refused: _refused, ...terms } = work;
    const page = { ...order, ...terms, items: all.slice(from, from + size) };
    const part = await act(page, watch);
    await batches?.refuse(order.batchId, part.problems);
    return { ...part, problems: [] };
  };
}
