import type { NativeConnection, WorkerOptions } from '@temporalio/worker';

/** Worker versioning, for those who opt in: a run stays with the version that began it. */
export interface WorkerVersioning {
  deploymentName: string;
  buildId: string;
  /** Route new runs to this version as soon as the server knows it. Default: whoever deploys does. */
  makeCurrent?: boolean;
}

export type DeploymentConnection = Pick<NativeConnection, 'withDeadline' | 'workflowService'>;

const CALL_MS = 5_000;
const AGAIN_MS = 250;

export function toDeploymentOptions({
  deploymentName,
  buildId,
}: WorkerVersioning): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/**
 * Makes a version the current one. The server learns of a version from its first poll, so the
 * request is repeated until it does, or until the signal fires.
 */
export async function makeCurrent(
  connection: DeploymentConnection,
  namespace: string,
  { deploymentName, buildId }: WorkerVersioning,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await connection.withDeadline(Date.now() + CALL_MS, () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion({
          namespace,
          deploymentName,
          buildId,
          version: `${deploymentName}.${buildId}`,
          ignoreMissingTaskQueues: true,
          identity: 'helix-temporal',
        }),
      );
      return;
    } catch (error) {
      if (!mayPass(error)) throw error;
      await pause(AGAIN_MS, signal);
    }
  }
}

/** gRPC: not found (5) and failed precondition (9) until it has polled; deadline (4) and unavailable (14) in an outage. */
function mayPass(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 4 || code === 5 || code === 9 || code === 14;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
