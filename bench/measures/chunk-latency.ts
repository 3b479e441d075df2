import type { Bench, Measurement } from '../bench.js';
import type { ChatClient } from '../client/chat-client.js';
import { toLabText } from '../client/lab-script.js';
import { newSessionId } from '../client/session-ids.js';
import { sleep } from '../clock.js';
import { measureRedisFloor } from '../floor/redis-floor.js';
import { formatShares, startCpuMeter, type CpuShares } from '../processes/cpu-meter.js';
import { createRedisStores, type RedisStores } from '../../stores/redis/index.js';
import type { Report } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { StreamTally } from './stream-tally.js';

const EVERY_MS = 20;
const WINDOW_MS = 15_000;
const FLOOR_MS = 8_000;
/** Turns begun per second: more than the engine starts would pile up before the window opens. */
const STARTS_PER_SECOND = 25;
const BEGUN_WITHIN_MS = 60_000;
const SETTLE_MS = 1_500;
/** No stream ends by itself before it is stopped. */
const LONGEST_MS = BEGUN_WITHIN_MS + SETTLE_MS + WINDOW_MS + 30_000;

/** Model → reader of the HTTP stream, for so many streams that keep their own time. */
export const chunkLatency: Measurement = {
  name: 'chunk-latency',
  take: async (bench) => {
    const report: Report = { rows: [], notes: [] };
    for (const streams of bench.isQuick ? [1, 20] : [1, 50, 200]) {
      const cell = await measureCell(bench, streams);
      bench.say(`chunk-latency: ${String(streams)} streams, floor`);
      const stamps = (bench.isQuick ? 1_000 : FLOOR_MS) / EVERY_MS;
      const size = { streams, stamps, everyMs: EVERY_MS };
      const floor = summarize(await measureRedisFloor(bench.servers.redisUrl, size));
      const what = `chunk latency, ${String(streams)} × 50/s`;
      report.rows.push({
        what,
        unit: 'ms',
        value: cell.latency,
        beside: { what: 'XADD → blocking XREAD', value: floor },
        aim: { p50: 1, p99: 5 },
      });
      report.notes.push(
        `${what}: lost ${String(cell.lost)}, doubled ${String(cell.doubled)}, ` +
          `${cell.perFrame.toFixed(2)} chunks per frame; CPU % of a core: ${formatShares(cell.cpu)}`,
      );
    }
    return report;
  },
};

interface Cell {
  latency: Summary;
  lost: number;
  doubled: number;
  perFrame: number;
  cpu: CpuShares;
}

async function measureCell(bench: Bench, streams: number): Promise<Cell> {
  const label = `chunk-latency: ${String(streams)} streams`;
  const { servers, chat } = bench;
  const redis = createRedisStores({ url: servers.redisUrl, role: 'worker' });
  const tallies = Array.from({ length: streams }, () => new StreamTally(newSessionId()));
  try {
    bench.say(`${label}, starting`);
    const finished = startStreams(chat, tallies);
    await Promise.race([
      finished,
      untilAllBegun(tallies, (text) => {
        bench.say(`${label}, ${text}`);
      }),
    ]);
    await sleep(SETTLE_MS);

    const windowMs = bench.isQuick ? 2_000 : WINDOW_MS;
    bench.say(`${label}, ${String(windowMs / 1000)} s`);
    const readCpu = startCpuMeter(bench.pids);
    for (const tally of tallies) tally.openWindow();
    await sleep(windowMs);
    for (const tally of tallies) tally.closeWindow();
    const cpu = readCpu();

    await Promise.all(tallies.map(({ sessionId }) => chat.stop(sessionId)));
    await finished;
    const lost = await Promise.all(tallies.map((tally) => countLost(redis.store, tally)));
    return {
      latency: summarize(tallies.flatMap(({ latencies }) => latencies)),
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
async function startStreams(chat: ChatClient, tallies: readonly StreamTally[]): Promise<void> {
  const text = toLabText({ stamp: true, deltas: LONGEST_MS / EVERY_MS, everyMs: EVERY_MS });
  await Promise.all(
    tallies.map(async (tally, index) => {
      await sleep((1000 / STARTS_PER_SECOND) * (index + Math.random()));
      await chat.say(tally.sessionId, text, (json, at) => {
        tally.accept(json, at);
      });
    }),
  );
}

/** What the model said is what its stored reply says: whatever did not arrive of it was lost. */
async function countLost(
  store: Pick<RedisStores['store'], 'readRows'>,
  tally: StreamTally,
): Promise<number> {
  const rows = await store.readRows(tally.sessionId, 0);
  const parts = rows.flatMap((row) => (row.role === 'assistant' ? row.parts : []));
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text.split(' ').length - 1 - (tally.received - tally.doubled);
}

async function untilAllBegun(
  tallies: readonly StreamTally[],
  say: (text: string) => void,
): Promise<void> {
  const giveUpAt = Date.now() + BEGUN_WITHIN_MS;
  for (let round = 1; ; round += 1) {
    const begun = tallies.filter(({ received }) => received > 0).length;
    if (begun === tallies.length) return;
    if (round % 100 === 0) say(`${String(begun)} have begun`);
    if (Date.now() > giveUpAt) throw new Error('not all streams have begun');
    await sleep(50);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
