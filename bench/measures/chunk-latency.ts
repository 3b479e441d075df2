import type { Bench, Measurement } from '../bench.js';
import { toLabText } from '../client/lab-script.js';
import { newSessionId } from '../client/session-ids.js';
import { sleep } from '../clock.js';
import { measureRedisFloor } from '../floor/redis-floor.js';
import { formatShares, startCpuMeter, type CpuShares } from '../processes/cpu-meter.js';
import { redisPid } from '../processes/redis-pid.js';
import { siblingPid } from '../processes/usage.js';
import type { Report } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { StreamTally } from './stream-tally.js';

const EVERY_MS = 20;
const WINDOW_MS = 15_000;
const FLOOR_MS = 8_000;
/** Turns begun per second: more than the engine starts would pile up before the window opens. */
const STARTS_PER_SECOND = 25;
const SETTLE_MS = 1_500;

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
  bench.say(`${label}, starting`);
  const windowMs = bench.isQuick ? 2_000 : WINDOW_MS;
  const rampMs = (streams / STARTS_PER_SECOND) * 1000;
  const deltas = Math.ceil((rampMs + windowMs + 2 * SETTLE_MS) / EVERY_MS);
  const text = toLabText({ stamp: true, deltas, everyMs: EVERY_MS });

  const tallies = Array.from({ length: streams }, () => new StreamTally());
  const replies = tallies.map(async (tally) => {
    // Anywhere in the ramp: the streams share no beat.
    await sleep(Math.random() * rampMs);
    await bench.chat.say(newSessionId(), text, (json, at) => {
      tally.accept(json, at);
    });
  });
  // Attached at once: a reply that is cut while the window is open is an error of the cell below.
  const finished = Promise.all(replies);
  finished.catch(() => undefined);
  await Promise.race([finished, untilAll(tallies)]);
  await sleep(SETTLE_MS);

  bench.say(`${label}, ${String(windowMs / 1000)} s`);
  const { product, servers } = bench;
  const readCpu = startCpuMeter({
    worker: product.worker.pid,
    api: product.api.pid,
    redis: await redisPid(servers.redisUrl),
    temporal: siblingPid('temporal'),
    client: process.pid,
  });
  for (const tally of tallies) tally.openWindow();
  await sleep(windowMs);
  for (const tally of tallies) tally.closeWindow();
  const cpu = readCpu();
  await finished;

  const sum = (pick: (tally: StreamTally) => number): number =>
    tallies.reduce((total, tally) => total + pick(tally), 0);
  return {
    latency: summarize(tallies.flatMap(({ latencies }) => latencies)),
    lost: sum((tally) => tally.lostOf(deltas)),
    doubled: sum(({ doubled }) => doubled),
    perFrame: (streams * deltas) / sum(({ frames }) => frames),
    cpu,
  };
}

async function untilAll(tallies: readonly StreamTally[]): Promise<void> {
  while (!tallies.every(({ hasBegun }) => hasBegun)) await sleep(50);
}
