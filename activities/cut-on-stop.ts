import { rootOf } from '../protocol/ids.js';
import type { Attempt } from './attempt.js';
import type { ActivityDeps } from './deps.js';

/**
 * Cuts an attempt when its run is stopped, or the conversation's run that it works for. Resolves once it
 * listens. A message may be late, since a worker or its connection can stand still: one about an
 * earlier run of the conversation cuts nothing.
 */
export async function cutOnStop(
  { store, streamManager, logger }: Pick<ActivityDeps, 'store' | 'streamManager' | 'logger'>,
  { sessionId, runId }: { sessionId: string; runId: string },
  attempt: Pick<Attempt, 'cut'>,
): Promise<() => void> {
  const conversation = rootOf(sessionId);

  /** A sub-agent works for the conversation's newest run. */
  async function isOurs(stopped: string): Promise<boolean> {
    if (sessionId === conversation) return stopped === runId;
    return (await store.sessions.read(conversation))?.runId === stopped;
  }

  return streamManager.onStop(sessionId, (stopped) => {
    isOurs(stopped).then(
      (ours) => {
        if (ours) attempt.cut('stop');
      },
      (error: unknown) => {
        // What the attempt writes next is answered with the stop.
        logger.warn({ err: error, runId }, 'a stop could not be looked up');
      },
    );
  });
}
