import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { sleep } from '../protocol/time.js';

/** Opt-in worker versioning. */
export interface WorkerVersioning {
  deploymentName: string;
  buildId: string;
  /**
   * `PINNED` (default): a run stays with the version that started it; `AUTO_UPGRADE`: it moves to
   * the current one.
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
    const { workerDeploymentInfo, conflictToken } = await workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    const current = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
    if (current != null && current !== '' && current !== from) return current;
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
      if (!mayPass(error)) throw error;
      await sleep(AGAIN_MS, signal);
    }
  }
  return undefined;
}

/**
 * gRPC codes: not found (5) and failed precondition (9) occur until the version has polled, or if
 * another version was faster; deadline (4) and unavailable (14) in an outage.
 */
function mayPass(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 4 || code === 5 || code === 9 || code === 14;
}
