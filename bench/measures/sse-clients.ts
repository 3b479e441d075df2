import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { followRaw } from '../client/raw-stream.js';
import { measureRedisFloor, startStampedStreams, StreamTally } from '../client/stamped-streams.js';
import { createLeave, sleep } from '../clock.js';
import { startApi } from '../processes/product.js';
import { summarize, type Summary } from '../report.js';

const CLIENTS = 1_000;
const SETTLE_MS = 3_000;
/** Pages attach in groups of this size, with this pause. */
const AT_ONCE = 10;
const BETWEEN_MS = 30;
/** The first stamps do not count, because connections and code are cold. */
const WARM_UP_MS = 10_000;

/** Many pages on one API process: with a turn each that says two words a second, and ten each on 100 turns. */
export const sseClients: Measurement = {
  name: 'sse-clients',
  take: async (bench) => {
    const apart = await followTurns(bench, { turns: CLIENTS, everyMs: 500, windowMs: 20_000 });
    const together = await followTurns(bench, { turns: 100, everyMs: 20, windowMs: 6_000 });
    const size = { streams: 200, stamps: 115, everyMs: 500 };
    const floor = summarize(await measureRedisFloor(bench.servers.redisUrl, size));
    return [
      {
        what: `${String(CLIENTS)} SSE clients on one API: append → client`,
        unit: 'ms',
        value: apart,
        beside: { what: 'XADD → blocking XREAD, 200 streams', value: floor },
        aim: { p99: 20 },
      },
      { what: '  ten each on 100 turns × 50/s', unit: 'ms', value: together, aim: { p99: 50 } },
    ];
  },
};

async function followTurns(
  { servers, say, isQuick }: Bench,
  { turns: streams, everyMs, windowMs }: { turns: number; everyMs: number; windowMs: number },
): Promise<Summary> {
  const warmUpMs = isQuick ? 2_000 : WARM_UP_MS;
  const stamps = Math.ceil((warmUpMs + (isQuick ? 2_000 : windowMs)) / everyMs);
  const turns = await startStampedStreams(servers.redisUrl, { streams, stamps, everyMs });
  const api = await startApi(servers, TASK_QUEUE);
  const leave = createLeave();
  const tallies = Array.from(
    { length: CLIENTS },
    (_, at) => new StreamTally(turns.sessions[at % streams] ?? ''),
  );
  try {
    say(`sse-clients: ${String(CLIENTS)} pages on ${String(streams)} turns`);
    const pages: Promise<void>[] = [];
    for (const [at, tally] of tallies.entries()) {
      const onEvent = tally.acceptEvent.bind(tally);
      pages.push(followRaw(api.port, tally.sessionId, onEvent, leave.signal));
      // A simultaneous start would measure how an API refuses overload.
      if (at % AT_ONCE === 0) await sleep(BETWEEN_MS);
    }
    await sleep(SETTLE_MS);
    turns.begin();
    await sleep(warmUpMs);
    for (const tally of tallies) tally.latencies = [];
    await Promise.race([turns.done, Promise.all(pages)]);
    leave.abort();
    await Promise.all(pages);
    return summarize(tallies.flatMap(({ latencies }) => latencies));
  } finally {
    leave.abort();
    await api.stop();
    await turns.stop();
  }
}
