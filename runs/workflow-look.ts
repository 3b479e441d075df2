import type { WorkflowExecutionDescription } from '@temporalio/client';
import { attemptIdOf, runOfWorkflow } from '../protocol/ids.js';
import { LEASED_ACTIVITIES } from '../protocol/temporal.js';
import { toMs } from './temporal-calls.js';

export type WorkflowState = 'running' | 'closed' | 'unknown';

/** The state of a workflow, and its pending work. */
export interface WorkflowLook {
  state: WorkflowState;
  /** True if the workflow completed. A run records its end before; the workflow of a failed one fails. */
  hasCompleted?: boolean;
  /** True if Temporal has work for a worker in progress or due, or an operator has paused it. */
  isAtWork: boolean;
  started: StartedAttempt[];
  /** Ids of the runs of its sub-agents that have not closed. */
  children: string[];
}

export const NOTHING: WorkflowLook = {
  state: 'unknown',
  isAtWork: false,
  started: [],
  children: [],
};

export interface StartedAttempt {
  /** The id that its worker registers. */
  id: string;
  workflowId: string;
  /** Run id of the workflow's execution. */
  runId: string;
  activityId: string;
  /** Time of the last heartbeat since its start, ms by Temporal's clock; 0 without one. */
  heartbeatAt: number;
}

const STARTED = 2;

export function toLook(input: WorkflowExecutionDescription): WorkflowLook {
  const { workflowId, runId, status, raw } = input;
  const isRunning = status.name === 'RUNNING' || status.name === 'PAUSED';
  // Temporal still lists the activities that were in progress when a workflow was terminated.
  if (!isRunning) return { ...NOTHING, state: 'closed', hasCompleted: status.name === 'COMPLETED' };
  const activities = raw.pendingActivities ?? [];
  const pending = activities.filter(
    ({ activityType, state }) =>
      Number(state) === STARTED && LEASED_ACTIVITIES.has(activityType?.name ?? ''),
  );
  return {
    state: 'running',
    isAtWork: status.name === 'PAUSED' || activities.length > 0 || raw.pendingWorkflowTask != null,
    started: pending.map(({ activityId, attempt, lastHeartbeatTime, lastStartedTime }) => {
      const heartbeatAt = toMs(lastHeartbeatTime);
      return {
        workflowId,
        runId,
        activityId: activityId ?? '',
        id: attemptIdOf(runId, activityId ?? '', attempt ?? 1),
        heartbeatAt: heartbeatAt > toMs(lastStartedTime) ? heartbeatAt : 0,
      };
    }),
    children: (raw.pendingChildren ?? []).flatMap((child) => {
      const run = runOfWorkflow(child.workflowId ?? '');
      return run === undefined ? [] : [run];
    }),
  };
}
