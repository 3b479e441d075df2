import type { StreamManager } from '../../store/log/stream-manager.js';
import type { Bench } from '../bench.js';
import { toLabText } from '../client/lab-script.js';
import { sayRaw } from '../client/raw-chat.js';
import { newSessionId } from '../client/session-ids.js';
import { sleep, wallClock } from '../clock.js';
import { startCpuMeter, type CpuShares } from '../processes/cpu-meter.js';
import { openStores } from '../stores.js';
import type { RedisStores } from '../../store/redis/index.js';
import { summarize, type Summary } from '../report/statistics.js';
import { StreamTally } from './stream-tally.js';

export const EVERY_MS = 20;
const WINDOW_MS = 15_000;
/** Turns begun per second: more than the engine starts would pile up before the window opens. */
const STARTS_PER_SECOND = 25;
const BEGUN_WITHIN_MS = 45_000;
const SETTLE_MS = 1_500;
/** No stream ends before it is stopped. */
const LONGEST_MS = BEGUN_WITHIN_MS + SETTLE_MS + WINDOW_MS + 30_000;

/** So many streams at once, watched for a while. */
export interface Cell {
  /** Streams that were going in time. */
  begun: number;
  /** Model → client. */
  latency: Summary;
  /** Model → a follower of the log: the half of the way that the worker and Redis have. */
  log: Summary;
  lost: number;
  doubled: number;
  perFrame: number;
  cpu: CpuShares;
  /** Chunks per second that clients received. */
  rate: number;
}

export async function measureCell(bench: Bench, streams: number): Promise<Cell> {
  const label = `chunk-latency: ${String(streams)} streams`;
  const redis = openStores(bench.servers.redisUrl);
  const all = Array.from({ length: streams }, () => new StreamTally(newSessionId()));
  try {
    bench.say(`${label}, starting`);
    const finished = startStreams(bench.product.port, all);
    await Promise.race([finished, untilBegun(all)]);
    const tallies = all.filter(({ received }) => received > 0);
    const logs = followLogs(redis.streamManager, tallies);
    await sleep(SETTLE_MS);

    const windowMs = bench.isQuick ? 2_000 : WINDOW_MS;
    bench.say(`${label}, ${String(windowMs / 1000)} s`);
    const readCpu = startCpuMeter(bench.pids);
    for (const tally of [...tallies, ...logs.tallies]) tally.openWindow();
    await sleep(windowMs);
    for (const tally of [...tallies, ...logs.tallies]) tally.closeWindow();
    const cpu = readCpu();

    await logs.stop();
    await Promise.all(all.map(({ sessionId }) => bench.chat.stop(sessionId)));
    await finished;
    const lost = await Promise.all(tallies.map((tally) => countLost(redis.store, tally)));
    const latencies = tallies.flatMap((tally) => tally.latencies);
    return {
      begun: tallies.length,
      latency: summarize(latencies),
      rate: (1_000 * latencies.length) / windowMs,
      log: summarize(logs.tallies.flatMap(({ latencies }) => latencies)),
      lost: sum(lost),
      doubled: sum(tallies.map(({ doubled }) => doubled)),
      perFrame:
        sum(tallies.map(({ received }) => received)) / sum(tallies.map(({ frames }) => frames)),
      cpu,
    };
  } finally {
    await redis.close();
  }
}

/** Begins all replies, each at its own moment: the streams share no beat. */
async function startStreams(port: number, tallies: readonly StreamTally[]): Promise<void> {
  const text = toLabText({ stamp: true, deltas: LONGEST_MS / EVERY_MS, everyMs: EVERY_MS });
  await Promise.all(
    tallies.map(async (tally, index) => {
      await sleep((1000 / STARTS_PER_SECOND) * (index + Math.random()));
      await sayRaw(port, tally.sessionId, text, (json, at) => {
        tally.acceptEvent(json, at);
      });
    }),
  );
}

async function untilBegun(tallies: readonly StreamTally[]): Promise<void> {
  const giveUpAt = Date.now() + BEGUN_WITHIN_MS;
  while (tallies.some(({ received }) => received === 0) && Date.now() < giveUpAt) await sleep(50);
}

/** The stored reply is the text that the model sent; text that the reader did not get is lost. */
async function countLost(
  store: Pick<RedisStores['store'], 'sessions'>,
  tally: StreamTally,
): Promise<number> {
  const rows = await store.sessions.rows(tally.sessionId, 0);
  const parts = rows.flatMap((row) => (row.role === 'assistant' ? row.parts : []));
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text.split(' ').length - 1 - (tally.received - tally.doubled);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** More would be load of their own. */
const AT_MOST = 10;

/** Follows the logs of some streams, as the API does for its readers. */
function followLogs(
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
