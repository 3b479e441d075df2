import type { Wake } from '../stores/contract/call-record.js';
import type { ActivityDeps } from './deps.js';

/** Signals runs of the conversation that an answer lets go on; one that is missed the sweeper wakes. */
export async function wakeOthers(
  { wake, logger }: ActivityDeps,
  others: readonly Wake[] = [],
): Promise<void> {
  if (wake === undefined) return;
  await Promise.all(
    others.map((other) =>
      wake(other).catch((error: unknown) => {
        logger.warn({ err: error, runId: other.runId }, 'the run could not be signalled');
      }),
    ),
  );
}
