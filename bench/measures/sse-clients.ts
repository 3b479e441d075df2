import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { followPage, measureRedisFloor, startStampedStreams } from '../client/stamped-streams.js';
import { createLeave, sleep } from '../clock.js';
import { startApi } from '../processes/product.js';
import { formatShares, residentMegabytes, startCpuMeter } from '../processes/usage.js';
import { summarize, type Summary } from '../report.js';

const CLIENTS = 1_000;
const SETTLE_MS = 3_000;
/** Pages attach in groups of this size, with this pause. */
const AT_ONCE = 10;
const BETWEEN_MS = 30;
/** The first stamps of a stream do not count, because code is cold. */
const WARM_UP = 75;
/** A turn for each page, with two words a second. */
const APART = { turns: CLIENTS, everyMs: 500, stamps: 40 };
/** Turns with ten pages each. */
const TOGETHER = { turns: 100, everyMs: 20, stamps: 300 };

/** Many pages on one API process. */
export const sseClients: Measurement = {
  name: 'sse-clients',
  take: async (bench) => {
    const apart = await followTurns(bench, APART);
    const together = await followTurns(bench, TOGETHER);
    const { everyMs, stamps } = APART;
    const size = { streams: 200, stamps: WARM_UP + stamps, everyMs };
    const floor = summarize(await measureRedisFloor(bench.servers.redisUrl, size));
    return {
      rows: [
        {
          what: `${String(CLIENTS)} SSE clients on one API: append → client`,
          unit: 'ms' as const,
          value: apart.latency,
          beside: { what: 'XADD → blocking XREAD, 200 streams', value: floor },
          aim: { p99: 20 },
        },
        {
          what: '  memory of each, idle',
          unit: 'KB' as const,
          value: { p50: apart.idle },
          aim: { p50: 100 },
        },
        { what: '  memory of each, talking', unit: 'KB' as const, value: { p50: apart.busy } },
        {
          what: `  ten each on ${String(TOGETHER.turns)} turns × 50/s`,
          unit: 'ms' as const,
          value: together.latency,
          aim: { p99: 50 },
        },
      ],
      notes: [`ten on each turn: CPU % of a core: ${together.cpu}`],
    };
  },
};

interface Followed {
  latency: Summary;
  /** Memory per page before and after the turns have spoken, KB. */
  idle: number;
  busy: number;
  cpu: string;
}

async function followTurns(
  { servers, say, isQuick, pids }: Bench,
  { turns: streams, everyMs, stamps: counted }: { turns: number; everyMs: number; stamps: number },
): Promise<Followed> {
  const stamps = WARM_UP + (isQuick ? 5 : counted);
  const turns = await startStampedStreams(servers.redisUrl, { streams, stamps, everyMs });
  const api = await startApi(servers, TASK_QUEUE);
  const leave = createLeave();
  const latencies: number[] = [];
  try {
    say(`sse-clients: ${String(CLIENTS)} pages on ${String(streams)} turns`);
    await sleep(SETTLE_MS);
    const before = residentMegabytes(api.pid) ?? NaN;
    const pages: Promise<void>[] = [];
    for (let index = 0; index < CLIENTS; index += 1) {
      const id = turns.sessions[index % streams] ?? '';
      pages.push(followPage(api.port, id, (ms) => latencies.push(ms), leave.signal));
      // A simultaneous start would measure how an API refuses overload.
      if (index % AT_ONCE === 0) await sleep(BETWEEN_MS);
    }
    await sleep(SETTLE_MS);
    const idle = residentMegabytes(api.pid) ?? NaN;
    const readCpu = startCpuMeter({ api: api.pid, redis: pids.redis, client: process.pid });
    turns.begin();
    await Promise.race([turns.done, Promise.all(pages)]);
    const cpu = formatShares(readCpu());
    const busy = residentMegabytes(api.pid) ?? NaN;
    leave.abort();
    await Promise.all(pages);
    const each = (megabytes: number): number => ((megabytes - before) * 1024) / CLIENTS;
    return { latency: summarize(latencies), idle: each(idle), busy: each(busy), cpu };
  } finally {
    leave.abort();
    await api.stop();
    await turns.stop();
  }
}
