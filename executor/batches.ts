import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import type {
  BatchAct,
  BatchCounts,
  BatchInput,
  BatchOrder,
  BatchProblem,
} from '../protocol/batch-run.js';
import { LIMITS } from '../protocol/limits.js';
import { HelixError } from '../protocol/errors.js';
import { batchWorkflowIdOf } from '../protocol/ids.js';
import { BATCH_WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import type { Batches as BatchRecords, BatchWork } from '../stores/contract/batches.js';
import { isRefusedForGood } from './grpc-status.js';
import { withinDeadline } from './run-workflows.js';

/** What a batch does, and which items were refused before it begins. */
export interface BatchRequest extends BatchOrder, Omit<BatchWork, 'refused'> {
  refused: readonly BatchProblem[];
}

/** A batch: its state as Temporal knows it, and the names of its record. */
export interface BatchState extends BatchCounts {
  /** As it is stored. */
  batchId: string;
  act: BatchAct;
  /** Absent once that person is erased, and a week after the batch. */
  by?: string | undefined;
  status: 'running' | 'completed' | 'aborted' | 'failed';
  /** ms since the epoch. */
  startedAt: number;
  endedAt?: number;
}

/** One act on many runs or calls: a workflow each. Ids are those under which batches are stored. */
export interface Batches {
  /** Begins a batch; one with the same id is begun once. @throws HelixError `unavailable` */
  start: (request: BatchRequest) => Promise<BatchState>;
  /** Undefined for an unknown batch, and for one that Temporal no longer keeps. */
  read: (batchId: string) => Promise<BatchState | undefined>;
  /** Those whose ids begin so, the newest first. */
  list: (prefix: string, limit: number) => Promise<BatchState[]>;
  /** Ends a batch after the acts that are under way; harmless when it has ended. */
  abort: (batchId: string) => Promise<void>;
}

const START_MS = 5_000;
const LIST_MS = 5_000;
const STATUS: Record<string, BatchState['status']> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  CANCELLED: 'aborted',
  TERMINATED: 'aborted',
};
const NO_COUNTS: BatchCounts = { total: 0, done: 0, skipped: 0, failed: 0, problems: [] };

export function createBatches(client: Client, taskQueue: string, records: BatchRecords): Batches {
  const { connection, workflow } = client;
  const call = <T>(work: () => Promise<T>, deadlineMs?: number): Promise<T> =>
    withinDeadline(connection, work, deadlineMs);

  async function named(state: BatchState): Promise<BatchState> {
    const { by, problems } = await records.about(state.batchId);
    return {
      ...state,
      ...(by !== undefined && { by }),
      problems: [...problems, ...state.problems].slice(0, LIMITS.batchProblems),
    };
  }

  async function read(batchId: string): Promise<BatchState | undefined> {
    try {
      const handle = workflow.getHandle(batchWorkflowIdOf(batchId));
      return await named(toState(await call(() => handle.describe())));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  return {
    read,
    start: async ({ batchId, act, rps, refused: problems, ...asked }) => {
      const first = problems.slice(0, LIMITS.batchProblems);
      const work = await records.save(batchId, { ...asked, refused: problems.length }, first);
      const { items, refused, actor } = work;
      const size = items.length;
      const counts = { ...NO_COUNTS, total: size + refused, failed: refused };
      try {
        await call(
          () =>
            workflow.start(BATCH_WORKFLOW_TYPE, {
              workflowId: batchWorkflowIdOf(batchId),
              taskQueue,
              args: [{ batchId, act, rps, size, counts } satisfies BatchInput],
              workflowIdReusePolicy: 'REJECT_DUPLICATE',
              workflowIdConflictPolicy: 'USE_EXISTING',
              staticSummary: `${act}: ${String(counts.total)}`,
              memo: { about: { act }, counts },
            }),
          START_MS,
        );
      } catch (error) {
        // It was begun before, and has ended.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await records.end(batchId);
      }
      const startedAt = Date.now();
      const begun = {
        batchId,
        act,
        by: actor.userId,
        startedAt,
        ...counts,
        status: 'running' as const,
      };
      // It has begun, whether Temporal describes it now or not.
      return (await read(batchId).catch(() => undefined)) ?? named(begun);
    },
    list: async (prefix, limit) => {
      const queue = taskQueue.replaceAll("'", "''");
      const query = [
        `WorkflowType = '${BATCH_WORKFLOW_TYPE}'`,
        `TaskQueue = '${queue}'`,
        `WorkflowId STARTS_WITH '${batchWorkflowIdOf(prefix)}'`,
      ].join(' AND ');
      try {
        return await call(async () => {
          const batches: BatchState[] = [];
          for await (const found of workflow.list({ query, pageSize: limit })) {
            batches.push(toState(found));
            if (batches.length >= limit) break;
          }
          return Promise.all(batches.map(named));
        }, LIST_MS);
      } catch (error) {
        if (!isRefusedForGood(error)) throw error;
        const text = 'Batches cannot be listed: this server does not find workflows by their ids.';
        throw new HelixError('unavailable', text, { cause: error });
      }
    },
    abort: async (batchId) => {
      try {
        await call(() => workflow.getHandle(batchWorkflowIdOf(batchId)).cancel());
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}

function toState(found: {
  workflowId: string;
  status: { name: string };
  memo?: Record<string, unknown> | undefined;
  startTime: Date;
  closeTime?: Date | undefined;
}): BatchState {
  const { workflowId, status, memo = {}, startTime, closeTime } = found;
  const { act } = (memo['about'] ?? {}) as Pick<BatchState, 'act'>;
  return {
    ...NO_COUNTS,
    ...(memo['counts'] as BatchCounts | undefined),
    batchId: workflowId.slice(PREFIX.length),
    act,
    status: STATUS[status.name] ?? 'running',
    startedAt: startTime.getTime(),
    ...(closeTime !== undefined && { endedAt: closeTime.getTime() }),
  };
}

const PREFIX = batchWorkflowIdOf('');
