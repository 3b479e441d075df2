import type { Bench, Measurement } from '../bench.js';
import {
  followLog,
  followPage,
  startStampedStreams,
  type OnLatency,
} from '../client/stamped-streams.js';
import { measureRedisFloor } from '../floor/redis-floor.js';
import { createLeave } from '../clock.js';
import { openStores } from '../stores.js';
import type { Row } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';

const FULL_MS = 10_000;
const QUICK_MS = 2_500;

interface Cell {
  streams: number;
  readers: number;
  everyMs: number;
  from: 'log' | 'page';
}

/** A writer's append → readers in another process, of the log and of the API's stream. */
export const followers: Measurement = {
  name: 'followers',
  take: async (bench) => {
    const rows: Row[] = [];
    const one: Cell = { streams: 1, readers: 1, everyMs: 5, from: 'log' };
    rows.push({
      what: 'append → reader, one stream × 200/s',
      unit: 'ms',
      value: await measureCell(bench, one),
      beside: { what: 'XADD → blocking XREAD', value: await measureFloor(bench, one) },
      aim: { ratio: 2 },
    });
    const many: Cell = { streams: 200, readers: 1, everyMs: 20, from: 'log' };
    rows.push({
      what: 'append → reader, 200 streams × 50/s',
      unit: 'ms',
      value: await measureCell(bench, many),
      beside: { what: 'XADD → blocking XREAD', value: await measureFloor(bench, many) },
      aim: { ratio: 2, ratioP99: 1 },
    });
    for (const from of ['log', 'page'] as const) {
      const crowd: Cell = { streams: 100, readers: 10, everyMs: 20, from };
      const value = await measureCell(bench, crowd);
      rows.push({
        what: `  1000 followers of 100 streams, ${from === 'log' ? 'in the store' : 'over HTTP'}`,
        unit: 'ms',
        value,
        aim: { p99: 10 },
      });
    }
    return { rows, notes: [] };
  },
};

async function measureCell(bench: Bench, cell: Cell): Promise<Summary> {
  const { streams, readers, everyMs, from } = cell;
  bench.say(`followers: ${String(streams)} streams × ${String(readers)}, ${from}`);
  const { redisUrl } = bench.servers;
  const redis = openStores(redisUrl);
  await redis.ping();
  const turns = await startStampedStreams(redisUrl, {
    streams,
    stamps: stampsOf(bench, cell),
    everyMs,
  });
  const leave = createLeave();
  const latencies: number[] = [];
  const onLatency: OnLatency = (ms) => latencies.push(ms);
  const follow = (sessionId: string): Promise<void> =>
    from === 'log'
      ? followLog(redis.streamManager, sessionId, onLatency, leave.signal)
      : followPage(bench.product.port, sessionId, onLatency, leave.signal);
  try {
    const following = turns.sessions.flatMap((id) =>
      Array.from({ length: readers }, () => follow(id)),
    );
    turns.begin();
    await Promise.race([turns.done, Promise.all(following)]);
    leave.abort();
    await Promise.all(following);
  } finally {
    leave.abort();
    await turns.stop();
    await redis.close();
  }
  return summarize(latencies);
}

async function measureFloor(bench: Bench, cell: Cell): Promise<Summary> {
  bench.say(`followers: ${String(cell.streams)} streams, floor`);
  const size = { streams: cell.streams, stamps: stampsOf(bench, cell), everyMs: cell.everyMs };
  return summarize(await measureRedisFloor(bench.servers.redisUrl, size));
}

function stampsOf({ isQuick }: Bench, { everyMs }: Cell): number {
  return Math.round((isQuick ? QUICK_MS : FULL_MS) / everyMs);
}
