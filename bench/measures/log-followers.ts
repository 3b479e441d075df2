import type { StreamManager } from '../../stores/log/stream-manager.js';
import { wallClock } from '../clock.js';
import { StreamTally } from './stream-tally.js';

/** More would be load of their own. */
const AT_MOST = 10;

/** Follows the logs of some streams, as the API does for its readers. */
export function followLogs(
  streamManager: Pick<StreamManager, 'follow'>,
  streams: readonly StreamTally[],
): { tallies: StreamTally[]; stop: () => Promise<void> } {
  const leave = new AbortController();
  const tallies = streams.slice(0, AT_MOST).map(({ sessionId }) => new StreamTally(sessionId));
  const following = tallies.map(async (tally) => {
    for await (const entries of streamManager.follow(tally.sessionId, 0, leave.signal)) {
      const at = wallClock();
      for (const { message } of entries) {
        if (message.type === 'text_delta') tally.acceptDelta(message.delta, at);
      }
    }
  });
  return {
    tallies,
    stop: async () => {
      leave.abort();
      await Promise.all(following);
    },
  };
}
