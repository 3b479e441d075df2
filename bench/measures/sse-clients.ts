import { TASK_QUEUE, type Measurement } from '../bench.js';
import { followPage, startStampedStreams } from '../client/stamped-streams.js';
import { createLeave, sleep } from '../clock.js';
import { startApi } from '../processes/product.js';
import { residentMegabytes } from '../processes/usage.js';
import { summarize } from '../report/statistics.js';
import { measureRedisFloor } from '../floor/redis-floor.js';

const CLIENTS = 1_000;
const EVERY_MS = 500;
const SETTLE_MS = 3_000;

/** Pages on one API process, each on a turn of its own that says two words a second. */
export const sseClients: Measurement = {
  name: 'sse-clients',
  take: async (bench) => {
    // The first stamps of a stream meet what is cold, and do not count.
    const stamps = 75 + (bench.isQuick ? 5 : 40);
    const size = { streams: CLIENTS, stamps, everyMs: EVERY_MS };
    const turns = await startStampedStreams(bench.servers.redisUrl, size);
    const api = await startApi(bench.servers, TASK_QUEUE);
    const leave = createLeave();
    const latencies: number[] = [];
    try {
      bench.say(`sse-clients: ${String(CLIENTS)} pages`);
      await sleep(SETTLE_MS);
      const before = residentMegabytes(api.pid) ?? NaN;
      const pages = turns.sessions.map((id) =>
        followPage(api.port, id, (ms) => latencies.push(ms), leave.signal),
      );
      await sleep(SETTLE_MS);
      const idle = residentMegabytes(api.pid) ?? NaN;
      turns.begin();
      await Promise.race([turns.done, Promise.all(pages)]);
      const busy = residentMegabytes(api.pid) ?? NaN;
      leave.abort();
      await Promise.all(pages);
      bench.say('sse-clients: floor');
      const floor = await measureRedisFloor(bench.servers.redisUrl, {
        ...size,
        streams: 200,
        stamps: bench.isQuick ? 5 : 40,
      });
      const each = (megabytes: number): number => ((megabytes - before) * 1024) / CLIENTS;
      return {
        rows: [
          {
            what: `${String(CLIENTS)} SSE clients on one API: append → client`,
            unit: 'ms' as const,
            value: summarize(latencies),
            beside: { what: 'XADD → blocking XREAD, 200 streams', value: summarize(floor) },
            aim: { p99: 20 },
          },
          {
            what: '  memory of each, idle',
            unit: 'KB' as const,
            value: { p50: each(idle) },
            aim: { p50: 100 },
          },
          { what: '  memory of each, talking', unit: 'KB' as const, value: { p50: each(busy) } },
        ],
        notes: [],
      };
    } finally {
      leave.abort();
      await api.stop();
      await turns.stop();
    }
  },
};
