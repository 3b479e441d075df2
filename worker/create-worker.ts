import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { RunActivities } from '../protocol/activities.js';

export interface AgentWorkerConfig {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  activities: RunActivities;
  /** Bundled workflow code, or the file to bundle. */
  workflows: { bundlePath: string } | { workflowsPath: string };
}

/** A Temporal worker for agent runs, with the settings that fast recovery rests on. */
export function createAgentWorker(config: AgentWorkerConfig): Promise<Worker> {
  const { connection, namespace, taskQueue, activities, workflows } = config;
  const source: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> =
    'bundlePath' in workflows
      ? { workflowBundle: { codePath: workflows.bundlePath } }
      : { workflowsPath: workflows.workflowsPath };
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    activities: { ...activities },
    ...source,
    // A dead worker's workflows are picked up by another one after this long.
    stickyQueueScheduleToStartTimeout: '1s',
    // The timer beats each second; every other beat goes out. 200 streams then cost the server 100
    // calls a second, and a dead worker is still noticed within the 5 s of the heartbeat timeout.
    maxHeartbeatThrottleInterval: '2s',
    defaultHeartbeatThrottleInterval: '2s',
    maxConcurrentActivityTaskExecutions: 1_000,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxConcurrentActivityTaskPolls: 10,
    maxConcurrentWorkflowTaskPolls: 10,
    // A worker that is told to go finishes what it can, then hands over.
    shutdownGraceTime: '30s',
    shutdownForceTime: '35s',
  });
}
