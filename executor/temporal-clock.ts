import type { Connection } from '@temporalio/client';
import type { ClockReading } from '../protocol/clock.js';
import { sleep } from '../protocol/time.js';
import { toMs } from './pollers.js';

/** Used for this alone: no task is ever there. */
const QUEUE = { name: 'helix-doctor', kind: 1 } as const;
const WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 25;

/**
 * Reads the clock of a Temporal server. No call of its API replies with the time, but it notes when
 * each poller has come: so this one comes, looks when that was, and leaves.
 *
 * @throws Error of the server, or if it does not list the poller in time
 */
export async function readTemporalClock(
  connection: Connection,
  namespace: string,
): Promise<ClockReading> {
  const { workflowService } = connection;
  const identity = `helix-doctor-${crypto.randomUUID()}`;
  const left = new AbortController();
  const askedAt = Date.now();
  const deadline = askedAt + WITHIN_MS;
  let refusal: Error | undefined;
  const poll = connection
    .withAbortSignal(left.signal, () =>
      connection.withDeadline(deadline, () =>
        workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: QUEUE, identity }),
      ),
    )
    .catch((error: unknown) => {
      refusal = error instanceof Error ? error : new Error(String(error));
    });
  try {
    while (refusal === undefined && Date.now() < deadline) {
      const { pollers } = await connection.withDeadline(deadline, () =>
        workflowService.describeTaskQueue({ namespace, taskQueue: QUEUE }),
      );
      const repliedAt = Date.now();
      const own = pollers.find((poller) => poller.identity === identity);
      if (own !== undefined) return { at: toMs(own.lastAccessTime), askedAt, repliedAt };
      await sleep(LOOK_EVERY_MS);
    }
    throw refusal ?? new Error('the server does not list pollers');
  } finally {
    left.abort();
    await poll;
  }
}
