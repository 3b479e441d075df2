import type { StreamManager } from '../../store/log/stream-manager.js';
import type { RedisStores } from '../../store/redis/index.js';
import type { Bench, Measurement } from '../bench.js';
import { newSessionId } from '../client/chat-client.js';
import { toLabText } from '../client/lab-script.js';
import { sayRaw } from '../client/raw-stream.js';
import { openStores } from '../client/seed-turn.js';
import { measureRedisFloor, StreamTally } from '../client/stamped-streams.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { formatShares, startCpuMeter, type CpuShares } from '../processes/usage.js';
import { summarize, type Aim, type Report, type Row, type Summary } from '../report.js';

const EVERY_MS = 20;
const WINDOW_MS = 15_000;
/** Turns begun per second; more would pile up in the engine before the window opens. */
const STARTS_PER_SECOND = 25;
const BEGUN_WITHIN_MS = 45_000;
const SETTLE_MS = 1_500;
/** Longer than any stream runs before it is stopped. */
const LONGEST_MS = BEGUN_WITHIN_MS + SETTLE_MS + WINDOW_MS + 30_000;

/** Result of a number of concurrent streams. */
interface Cell {
  /** Streams that had begun in time. */
  begun: number;
  /** From the model to the client. */
  latency: Summary;
  /** From the model to a follower of the log: the part of worker and Redis. */
  log: Summary;
  lost: number;
  doubled: number;
  perFrame: number;
  cpu: CpuShares;
  /** Chunks per second that clients received. */
  rate: number;
}

async function measureCell(bench: Bench, streams: number): Promise<Cell> {
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

/** Begins the replies at different moments, so that the streams do not tick in step. */
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

/** Counts the stamps of the stored reply, which is the model's text, that the reader did not get. */
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

/** More followers would add load of their own. */
const AT_MOST = 10;

/** Follows some streams' logs, as the API does for its readers. */
function followLogs(
  streamManager: Pick<StreamManager, 'follow'>,
  streams: readonly StreamTally[],
): { tallies: StreamTally[]; stop: () => Promise<void> } {
  const leave = createLeave();
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

const FLOOR_MS = 8_000;
const WARM_MS = 10_000;
const IDLE_MS = 5_000;
/** Aims by number of streams. */
const AIMS: Readonly<Record<number, Aim>> = {
  50: { ratio: 2, ratioP99: 3 },
  200: { ratio: 2, ratioP99: 1 },
};
/** µs of CPU per chunk that reaches its reader, with this many streams; with fewer, fixed costs weigh more. */
const CPU_STREAMS = 200;
const CPU_AIMS = { worker: 35, api: 20, redis: 16, temporal: 3 };

/** Latency from the model to the reader of the HTTP stream. */
export const chunkLatency: Measurement = {
  name: 'chunk-latency',
  take: async (bench) => {
    const report: Report = { rows: [], notes: [] };
    // A server that has just started still does work of its own.
    await sleep(bench.isQuick ? 2_000 : WARM_MS);
    const idle = await measureIdleServer(bench);
    for (const streams of bench.isQuick ? [1, 20] : [1, 50, 200]) {
      const cell = await measureCell(bench, streams);
      const floor = await measureFloor(bench, streams);
      // If the engine cannot start all streams, the row covers those that run, and says so.
      const size = cell.begun < streams ? `${String(cell.begun)} of ${String(streams)}` : streams;
      const what = `chunk latency, ${String(size)} × 50/s`;
      report.rows.push(toRow(what, cell, floor, AIMS[streams]), ...toCpuRows(cell, idle, streams));
      report.notes.push(describe(what, cell));
    }
    return report;
  },
};

async function measureFloor(bench: Bench, streams: number): Promise<Summary> {
  bench.say(`chunk-latency: ${String(streams)} streams, floor`);
  const stamps = (bench.isQuick ? 1_000 : FLOOR_MS) / EVERY_MS;
  const size = { streams, stamps, everyMs: EVERY_MS };
  return summarize(await measureRedisFloor(bench.servers.redisUrl, size));
}

/** Measures Temporal's idle load, in percent of a core. */
async function measureIdleServer({ pids, isQuick }: Bench): Promise<number> {
  const read = startCpuMeter({ temporal: pids.temporal });
  await sleep(isQuick ? 1_000 : IDLE_MS);
  return read().temporal ?? NaN;
}

function toRow(what: string, { latency }: Cell, floor: Summary, aim?: Aim): Row {
  return {
    what,
    unit: 'ms',
    value: latency,
    beside: { what: 'XADD → blocking XREAD', value: floor },
    aim,
  };
}

/** Temporal's share excludes its idle load. */
function toCpuRows({ cpu, rate }: Cell, idle: number, streams: number): Row[] {
  return (['worker', 'api', 'redis', 'temporal'] as const).map((name) => {
    const share = Math.max(0, (cpu[name] ?? NaN) - (name === 'temporal' ? idle : 0));
    return {
      what: `  CPU of ${name} for a chunk of ${String(streams)} streams`,
      unit: 'µs',
      value: { p50: (share * 10_000) / rate },
      ...(streams === CPU_STREAMS && { aim: { p50: CPU_AIMS[name] } }),
    };
  });
}

function describe(what: string, { lost, doubled, perFrame, log, cpu }: Cell): string {
  const half = `${log.p50.toFixed(2)} / ${log.p99.toFixed(2)} ms`;
  return (
    `${what}: lost ${String(lost)}, doubled ${String(doubled)}, ${perFrame.toFixed(2)} chunks per ` +
    `frame; of it until the log's followers ${half}; CPU % of a core: ${formatShares(cpu)}`
  );
}
