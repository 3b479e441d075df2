import {
  ActivityCancellationType,
  CancellationScope,
  proxyActivities,
  setCurrentDetails,
  upsertMemo,
} from '@temporalio/workflow';
import type {
  BatchAct,
  BatchActivities,
  BatchCounts,
  BatchInput,
} from '../../protocol/batch-run.js';
import { LIMITS } from '../../protocol/limits.js';

/** Items of one activity: about five seconds of work, so that a cancel is noticed soon. */
const PAGE_SECONDS = 5;
const MOST_OF_PAGE = 50;

const { batchPage } = proxyActivities<BatchActivities>({
  heartbeatTimeout: '10s',
  startToCloseTimeout: '10m',
  // What was done until a cancel is counted.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

const { batchEnd } = proxyActivities<BatchActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/**
 * One act on many runs or calls, whose names were found when it began. Cancel ends it after the acts
 * that are under way. Each act is done once however often its activity is repeated, see
 * `executor/batch-page.ts`; the memo has the counts, so that they can be read without a worker.
 */
export async function agentBatch(input: BatchInput): Promise<BatchCounts> {
  try {
    return await actOnPages(input);
  } finally {
    await CancellationScope.nonCancellable(() => batchEnd(input.batchId));
  }
}

async function actOnPages({
  counts: before,
  size: total,
  ...order
}: BatchInput): Promise<BatchCounts> {
  const most = Math.min(MOST_OF_PAGE, order.rps * PAGE_SECONDS);
  let counts = before;
  show(order.act, counts);
  for (let at = 0; at < total;) {
    const first = before.failed + at;
    const size = Math.min(most, total - at);
    const { tried, ...part } = await batchPage({ ...order, first, from: at, size });
    counts = sumOf(counts, part);
    at += tried;
    upsertMemo({ counts });
    show(order.act, counts);
  }
  return counts;
}

function sumOf(counts: BatchCounts, part: Omit<BatchCounts, 'total'>): BatchCounts {
  return {
    total: counts.total,
    done: counts.done + part.done,
    skipped: counts.skipped + part.skipped,
    failed: counts.failed + part.failed,
    problems: [...counts.problems, ...part.problems].slice(0, LIMITS.batchProblems),
  };
}

/** What operators read in the Temporal UI. */
function show(act: BatchAct, { total, done, skipped, failed }: BatchCounts): void {
  const tried = done + skipped + failed;
  setCurrentDetails(
    [
      `**${act}**: ${String(tried)} of ${String(total)}`,
      `${String(done)} done · ${String(skipped)} skipped · ${String(failed)} failed`,
    ].join('\n\n'),
  );
}
