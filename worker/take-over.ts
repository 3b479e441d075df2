import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { isRefusedForGood, withinDeadline } from '../runs/temporal-calls.js';
import { resetStickyQueue } from '../runs/run-workflows.js';
import type { LostAttempt } from '../protocol/temporal.js';
import type { HeldWork } from '../store/contract/leases.js';

const CALL_MS = 5_000;

/**
 * Completes a dead worker's attempt as lost, so that its workflow schedules it again; does nothing
 * if Temporal knows the attempt no longer. @throws Error if the server cannot be reached
 */
export type TakeOver = (work: HeldWork) => Promise<void>;

export function createTakeOver(client: Client): TakeOver {
  const { connection } = client;
  const call = (work: () => Promise<unknown>): Promise<unknown> =>
    withinDeadline(connection, work, CALL_MS);

  return async ({ taskToken, workflowId, runId, token, number, blockedBy, progress }) => {
    // The dead worker may have cached the workflow: its next task must not wait for that worker.
    await call(() => resetStickyQueue(client, { workflowId, runId })).catch(() => undefined);
    const lost: LostAttempt = { kind: 'lost', token, number, blockedBy, progress };
    try {
      // By task token: an activity's id would also name a newer attempt, which may be healthy.
      await call(() => client.activity.complete(Buffer.from(taskToken, 'base64'), lost));
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError) && !isRefusedForGood(error)) throw error;
    }
  };
}
