import type { Bench, Measurement } from '../bench.js';
import { measureRedisFloor } from '../floor/redis-floor.js';
import { sleep } from '../clock.js';
import { formatShares, startCpuMeter } from '../processes/cpu-meter.js';
import type { Aim, Report, Row } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { EVERY_MS, measureCell, type Cell } from './stream-cell.js';

const FLOOR_MS = 8_000;
const WARM_MS = 10_000;
const IDLE_MS = 5_000;
/** By how many streams there are. */
const AIMS: Readonly<Record<number, Aim>> = {
  50: { ratio: 2, ratioP99: 3 },
  200: { ratio: 2, ratioP99: 1 },
};
/** µs of CPU per chunk that reaches its reader, with so many streams; fewer pay more for what a process does anyway. */
const CPU_STREAMS = 200;
const CPU_AIMS = { worker: 35, api: 20, redis: 16, temporal: 3 };

/** Model → reader of the HTTP stream, for so many streams that keep their own time. */
export const chunkLatency: Measurement = {
  name: 'chunk-latency',
  take: async (bench) => {
    const report: Report = { rows: [], notes: [] };
    // A server that has just started still works on itself.
    await sleep(bench.isQuick ? 2_000 : WARM_MS);
    const idle = await measureIdleServer(bench);
    for (const streams of bench.isQuick ? [1, 20] : [1, 50, 200]) {
      const cell = await measureCell(bench, streams);
      const floor = await measureFloor(bench, streams);
      // An engine too slow to get all of them going is measured with those that go, and says so.
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

/** Percent of a core that Temporal takes without runs. */
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

/** Temporal's is net of what it takes without runs. */
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
