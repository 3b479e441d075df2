import type { Client } from '@temporalio/client';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { runOfWorkflow } from '../protocol/ids.js';
import { WORKFLOW_TYPE } from '../protocol/temporal.js';
import { sleep } from '../protocol/time.js';
import { TIMES, type Times } from '../protocol/limits.js';
import { codeOf, mayPass, quote } from '../runs/temporal-calls.js';

export interface WorkerVersioning {
  deploymentName: string;
  buildId: string;
  /**
   * `PINNED` (default): a run stays with the version that started it, and moves to the current one while
   * it waits for people; `AUTO_UPGRADE`: it moves at any time, so that its history has to replay.
   */
  behavior?: 'PINNED' | 'AUTO_UPGRADE';
  /**
   * Routes new runs to this version as soon as the server knows it: `true` only if there is no
   * current version yet, `{ from }` also instead of that build. Restarting a worker of an older
   * version changes nothing. Default: left to the deployment.
   */
  makeCurrent?: boolean | { from: string };
}

export type DeploymentConnection = Pick<NativeConnection, 'withDeadline' | 'workflowService'>;

const CALL_MS = 5_000;
const AGAIN_MS = 250;
/**
 * Longest gap between wakes of a run that did not move: its sub-agent is at work, or its task queue did
 * not know of the current build yet.
 */
const WAKE_AGAIN_MOST_MS = 60 * 60_000;
/** Gap between wakes, at most twenty a second in all processes together. */
const WAKE_GAP_MS = 50;

export function toDeploymentOptions({
  deploymentName,
  buildId,
  behavior = 'PINNED',
}: WorkerVersioning): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: behavior,
    },
  };
}

/**
 * Makes a version the current one, if allowed. The server learns of a version from its first poll,
 * so the request is repeated until then, or until the signal fires.
 *
 * @returns the build that is current then; undefined if the signal fired first
 */
export async function makeCurrent(
  connection: DeploymentConnection,
  namespace: string,
  { deploymentName, buildId, makeCurrent: rule }: WorkerVersioning,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { workflowService } = connection;
  const from = typeof rule === 'object' ? rule.from : undefined;

  async function attempt(): Promise<string> {
    const { current, conflictToken } = await readDeployment(connection, namespace, deploymentName);
    if (current !== undefined && current !== from) return current;
    await workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName,
      buildId,
      version: `${deploymentName}.${buildId}`,
      // If two versions do this at the same time, the second one checks again.
      conflictToken,
      ignoreMissingTaskQueues: true,
      identity: 'helix-temporal',
    });
    return buildId;
  }

  while (!signal.aborted) {
    try {
      return await connection.withDeadline(Date.now() + CALL_MS, attempt);
    } catch (error) {
      if (!isTooEarly(error)) throw error;
      await sleep(AGAIN_MS, signal);
    }
  }
  return undefined;
}

/** @returns the current build, if any, and the token that a change of it must send */
async function readDeployment(
  { workflowService }: DeploymentConnection,
  namespace: string,
  deploymentName: string,
): Promise<{ current: string | undefined; conflictToken: Uint8Array }> {
  const { workerDeploymentInfo, conflictToken } = await workflowService.describeWorkerDeployment({
    namespace,
    deploymentName,
  });
  const current = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
  return { current: current === '' ? undefined : (current ?? undefined), conflictToken };
}

interface MoveDeps {
  wake: (runId: string) => Promise<void>;
  /** Returns true if this process may wake the runs of its build for the next `forMs`. */
  lease: (forMs: number) => Promise<boolean>;
  /** Returns true if the record says that the run waits. */
  isWaiting: (runId: string) => Promise<boolean>;
  /** Fires when the worker ends. */
  signal: AbortSignal;
  /** Default: `TIMES`. */
  times?: Times | undefined;
}

/**
 * Creates a sweep that wakes waiting runs of this build once another build is current. A woken run
 * looks at its record and continues on the current build, so that old workers can be retired. One
 * process of the build does so at a time.
 */
export function createMoveWaiting(
  connection: DeploymentConnection,
  { workflow, options: { namespace } }: Client,
  { deploymentName, buildId }: WorkerVersioning,
  { wake, lease, isWaiting, signal, times: { lookAgainMs } = TIMES }: MoveDeps,
): () => Promise<void> {
  const query = [
    `WorkflowType = '${WORKFLOW_TYPE}'`,
    "ExecutionStatus = 'Running'",
    `TemporalWorkerDeploymentVersion = ${quote(`${deploymentName}:${buildId}`)}`,
  ].join(' AND ');
  /** Next wake and pause of each run; the server's list may still show runs that have moved. */
  const woken = new Map<string, { at: number; pauseMs: number }>();

  return async () => {
    if (!(await lease(lookAgainMs))) return;
    const now = performance.now();
    const { current } = await connection.withDeadline(Date.now() + CALL_MS, () =>
      readDeployment(connection, namespace, deploymentName),
    );
    if (current === undefined || current === buildId) return;
    for await (const { workflowId } of workflow.list({ query })) {
      if (signal.aborted || performance.now() > now + lookAgainMs) return;
      const runId = runOfWorkflow(workflowId);
      const { at, pauseMs } = woken.get(runId ?? '') ?? { at: 0, pauseMs: lookAgainMs };
      if (runId === undefined || at > now || !(await isWaiting(runId))) continue;
      const next = Math.min(2 * pauseMs, WAKE_AGAIN_MOST_MS);
      woken.set(runId, { at: now + pauseMs, pauseMs: next });
      await wake(runId);
      await sleep(WAKE_GAP_MS, signal);
    }
  };
}

/**
 * True for outages, and for gRPC's not found (5) and failed precondition (9), which occur until the
 * version has polled, or if another version was faster.
 */
function isTooEarly(error: unknown): boolean {
  return mayPass(error) || codeOf(error) === 5 || codeOf(error) === 9;
}
