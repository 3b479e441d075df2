import { startChild } from '../processes/child.js';
import { followRaw } from './raw-chat.js';
import { newSessionId } from './session-ids.js';

/** First stamps of each stream, which meet connections and code that are cold. */
const WARM_UP = 75;

export interface StampedStreams {
  /** Ids of the turns that stamps are written into. */
  sessions: readonly string[];
  begin: () => void;
  /** Resolves when everything is stored. */
  done: Promise<unknown>;
  stop: () => Promise<void>;
}

/** Turns that a separate process writes, as a worker would. They wait for `begin`. */
export async function startStampedStreams(
  redisUrl: string,
  size: { streams: number; stamps: number; everyMs: number },
): Promise<StampedStreams> {
  const prefix = `${newSessionId()}-`;
  const { streams, stamps, everyMs } = size;
  const args = [redisUrl, prefix, streams, stamps, everyMs].map(String);
  const nodeArgs = ['--max-semi-space-size=64'];
  const writer = startChild('bench/load/stamp-writer.js', { args, nodeArgs });
  await writer.hear();
  const done = writer.hear();
  // Callers of `done` see the rejection; a measurement that failed earlier never awaits it.
  done.catch(() => undefined);
  return {
    sessions: Array.from({ length: streams }, (_, index) => `${prefix}${String(index)}`),
    begin: () => {
      writer.tell('begin');
    },
    done,
    stop: writer.stop,
  };
}

/** Takes a latency, and the moment at which the chunk arrived. */
export type OnLatency = (ms: number, at: number) => void;

/** Reads a turn from the API, as a page does. */
export function followPage(
  port: number,
  sessionId: string,
  onLatency: OnLatency,
  signal: AbortSignal,
): Promise<void> {
  const onStamps = createStampReader(onLatency);
  return followRaw(
    port,
    sessionId,
    (json, at) => {
      if (!json.startsWith('{"type":"text-delta"')) return;
      onStamps((JSON.parse(json) as { delta: string }).delta, at);
    },
    signal,
  );
}

/** A delta holds one stamp or, if the writer was behind, several. */
function createStampReader(onLatency: OnLatency): (delta: string, at: number) => void {
  let count = 0;
  return (delta, at) => {
    for (const stamp of delta.trimEnd().split(' ')) {
      count += 1;
      if (count > WARM_UP) onLatency(at - Number(stamp), at);
    }
  };
}
