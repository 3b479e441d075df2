import type { WorkflowHandle } from '@temporalio/client';
import { workflowIdOf } from '../../protocol/ids.js';
import { openStores } from '../stores.js';
import type { Bench } from '../bench.js';
import { sleep } from '../clock.js';

const WITHIN_MS = 10_000;

/** The workflow of a session's newest run; waits for a session that is about to begin. */
export async function runOf(
  { servers, temporal }: Bench,
  sessionId: string,
): Promise<WorkflowHandle> {
  const redis = openStores(servers.redisUrl);
  const giveUpAt = Date.now() + WITHIN_MS;
  try {
    for (;;) {
      const record = await redis.store.sessions.read(sessionId).catch(() => undefined);
      const status = record && (await describe(record.runId));
      if (status !== undefined) return status;
      if (Date.now() > giveUpAt) throw new Error('the run has not begun');
      await sleep(20);
    }
  } finally {
    await redis.close();
  }

  /** Undefined until Temporal knows it. */
  async function describe(runId: string): Promise<WorkflowHandle | undefined> {
    const handle = temporal.workflow.getHandle(workflowIdOf(runId));
    return handle.describe().then(
      () => handle,
      () => undefined,
    );
  }
}
