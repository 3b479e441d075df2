import type { Bench } from '../bench.js';
import { attach } from '../client/attach-client.js';
import { followPage, startStampedStreams } from '../client/stamped-streams.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { summarize, type Summary } from '../report/statistics.js';

const STREAMS = 200;
const EVERY_MS = 20;
const WARM_MS = 3_000;
const BETWEEN_MS = 200;

export interface AttachBesideLive {
  attach: Summary;
  /** Append → pages of the streams that were going, before any attach. */
  before: Summary;
  meanwhile: Summary;
}

/** Attaches to a long turn, one after the other, while an API has 200 live streams. */
export async function measureAttachBesideLive(
  bench: Bench,
  sessionId: string,
): Promise<AttachBesideLive> {
  const { port } = bench.product;
  const windowMs = bench.isQuick ? 1_500 : 8_000;
  const stamps = (WARM_MS + 2 * windowMs + 3_000) / EVERY_MS;
  const size = { streams: STREAMS, stamps, everyMs: EVERY_MS };
  const live = await startStampedStreams(bench.servers.redisUrl, size);
  const leave = createLeave();
  const samples: { ms: number; at: number }[] = [];
  const readers = live.sessions.map((id) =>
    followPage(port, id, (ms, at) => samples.push({ ms, at }), leave.signal),
  );
  const between = (from: number, to: number): Summary =>
    summarize(samples.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms));
  try {
    live.begin();
    await sleep(WARM_MS);
    const beganAt = wallClock();
    await sleep(windowMs);
    const attachedAt = wallClock();
    const attached: number[] = [];
    while (wallClock() < attachedAt + windowMs) {
      attached.push((await attach(port, sessionId)).ms);
      await sleep(BETWEEN_MS);
    }
    return {
      attach: summarize(attached),
      before: between(beganAt, attachedAt),
      meanwhile: between(attachedAt, wallClock()),
    };
  } finally {
    leave.abort();
    await Promise.allSettled(readers);
    await live.stop();
  }
}
