import type { Client, ScheduleExecutionResult } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Firing, FiringNote } from '../protocol/scheduled-run.js';

const STATUS: Record<string, Firing['status']> = {
  RUNNING: 'running',
  CANCELLED: 'stopped',
  TERMINATED: 'stopped',
};

/** Reads what became of firings that a schedule names, the newest first. */
export function createFiringReader(
  { workflow }: Pick<Client, 'workflow'>,
  call: <T>(work: () => Promise<T>) => Promise<T>,
): (actions: readonly ScheduleExecutionResult[]) => Promise<Firing[]> {
  async function read({ takenAt, action }: ScheduleExecutionResult): Promise<Firing> {
    const { workflowId, firstExecutionRunId } = action.workflow;
    const firing = { at: takenAt.getTime(), workflowId };
    try {
      const { status, memo } = await call(() =>
        workflow.getHandle(workflowId, firstExecutionRunId).describe(),
      );
      const { outcome, ...note } = (memo?.['firing'] ?? {}) as FiringNote;
      return { ...firing, ...note, status: STATUS[status.name] ?? outcome ?? 'failed' };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return { ...firing, status: 'unknown' };
    }
  }

  return (actions) => Promise.all([...actions].reverse().map(read));
}
