import type { Bench, Measurement } from '../bench.js';
import { measureRedisFloor } from '../floor/redis-floor.js';
import { formatShares } from '../processes/cpu-meter.js';
import type { Report, Row } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { EVERY_MS, measureCell, type Cell } from './stream-cell.js';

const FLOOR_MS = 8_000;

/** Model → reader of the HTTP stream, for so many streams that keep their own time. */
export const chunkLatency: Measurement = {
  name: 'chunk-latency',
  take: async (bench) => {
    const report: Report = { rows: [], notes: [] };
    for (const streams of bench.isQuick ? [1, 20] : [1, 50, 200]) {
      const cell = await measureCell(bench, streams);
      const floor = await measureFloor(bench, streams);
      // An engine too slow to get all of them going is measured with those that go, and says so.
      const size = cell.begun < streams ? `${String(cell.begun)} of ${String(streams)}` : streams;
      const what = `chunk latency, ${String(size)} × 50/s`;
      report.rows.push(toRow(what, cell, floor));
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

function toRow(what: string, { latency }: Cell, floor: Summary): Row {
  return {
    what,
    unit: 'ms',
    value: latency,
    beside: { what: 'XADD → blocking XREAD', value: floor },
    aim: { p50: 1, p99: 5 },
  };
}

function describe(what: string, { lost, doubled, perFrame, log, cpu }: Cell): string {
  const half = `${log.p50.toFixed(2)} / ${log.p99.toFixed(2)} ms`;
  return (
    `${what}: lost ${String(lost)}, doubled ${String(doubled)}, ${perFrame.toFixed(2)} chunks per ` +
    `frame; of it until the log's followers ${half}; CPU % of a core: ${formatShares(cpu)}`
  );
}
