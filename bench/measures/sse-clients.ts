import { TASK_QUEUE, type Bench, type Take } from '../bench.js';
import { createChatClient } from '../client/chat-client.js';
import { createWords, Page } from '../client/page.js';
import { measureRedisFloor, startStampedStreams } from '../client/stamped-streams.js';
import { createLeave, sleep } from '../clock.js';
import { startApi } from '../processes/product.js';
import { row } from '../report.js';

const CLIENTS = 1_000;
const SETTLE_MS = 3_000;
/** Pages attach in groups of this size, with this pause. */
const AT_ONCE = 10;
const BETWEEN_MS = 30;
/** The first stamps do not count, because connections and code are cold. */
const WARM_UP_MS = 10_000;

/** Many pages on one API process: with a turn each that says two words a second, and ten each on 100 turns. */
export const take: Take = async (bench) => {
  const apart = await followTurns(bench, { turns: CLIENTS, everyMs: 500, windowMs: 20_000 });
  const together = await followTurns(bench, { turns: 100, everyMs: 20, windowMs: 6_000 });
  const size = { streams: 200, stamps: 115, everyMs: 500 };
  const floor = await measureRedisFloor(bench.servers.redisUrl, size);
  return [
    row(`${String(CLIENTS)} SSE clients on one API: append → client`, 'ms', apart, {
      beside: ['XADD → blocking XREAD, 200 streams', floor],
      aim: { p99: 20 },
    }),
    row('  ten each on 100 turns × 50/s', 'ms', together, { aim: { p99: 50 } }),
  ];
};

async function followTurns(
  { servers, say, quick }: Bench,
  { turns: streams, everyMs, windowMs }: { turns: number; everyMs: number; windowMs: number },
): Promise<number[]> {
  const warmUpMs = quick ? 2_000 : WARM_UP_MS;
  const stamps = Math.ceil((warmUpMs + (quick ? 2_000 : windowMs)) / everyMs);
  const turns = await startStampedStreams(servers.redisUrl, { streams, stamps, everyMs });
  const api = await startApi(servers, TASK_QUEUE);
  const leave = createLeave();
  const pages = Array.from({ length: CLIENTS }, () => new Page());
  const { follow } = createChatClient(api.port);
  try {
    say(`sse-clients: ${String(CLIENTS)} pages on ${String(streams)} turns`);
    const following: Promise<void>[] = [];
    for (const [at, page] of pages.entries()) {
      const sessionId = turns.sessions[at % streams] ?? '';
      following.push(follow(sessionId, createWords(page), leave.signal));
      // A simultaneous start would measure how an API refuses overload.
      if (at % AT_ONCE === 0) await sleep(BETWEEN_MS);
    }
    await sleep(SETTLE_MS);
    turns.begin();
    await sleep(warmUpMs);
    for (const page of pages) page.isOpen = true;
    await Promise.race([turns.done, Promise.all(following)]);
    leave.abort();
    await Promise.all(following);
    return pages.flatMap(({ latencies }) => latencies);
  } finally {
    leave.abort();
    await api.stop();
    await turns.stop();
  }
}
