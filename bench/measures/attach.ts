import { Redis } from 'ioredis';
import { jsonOf } from '../../store/redis/entries.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { takeSamples, type Take } from '../bench.js';
import { newSessionId } from '../client/chat-client.js';
import { deltaOf } from '../client/page.js';
import { createDataLines, readRaw } from '../client/raw-stream.js';
import { openStores, seedDeltas, seedTurn } from '../client/seed-turn.js';
import { sleep } from '../clock.js';
import { row } from '../report.js';

const CHUNKS = 10_000;
/** End mark of the long turn; a reader that has it has everything. */
const LAST_WORD = '~end~';
/** Deltas of the size that models send. */
const TEXT = [
  ...Array.from({ length: CHUNKS - 1 }, (_, index) => `word${String(index % 97)} `),
  LAST_WORD,
];
/** Longer than viewers share one read, so each sample reads for itself. */
const BETWEEN_MS = 250;

/** Time until a late reader of a long running turn has all of its text so far, against a bare read of its log. */
export const take: Take = async ({ quick, servers, product, say }) => {
  const stores = openStores(servers.redisUrl);
  const redis = new Redis(servers.redisUrl);
  try {
    say(`attach: writing a turn of ${String(CHUNKS)} chunks`);
    const sessionId = newSessionId();
    await seedDeltas(stores, await seedTurn(stores, sessionId), TEXT);
    say('attach: reading');
    const size = { warmUp: 1, count: quick ? 2 : 20 };
    const bare = await takeSamples(size, () => timeRange(redis, sessionId));
    const attached = await takeSamples(size, async () => {
      await sleep(BETWEEN_MS);
      return timeAttach(product.port, sessionId);
    });
    const what = `attach to a running turn of ${String(CHUNKS)} chunks`;
    const beside = ['one XRANGE, each chunk parsed', bare] as const;
    // With so few samples p99 is the slowest one.
    return [row(what, 'ms', attached, { beside, aim: { ratioP99: 1.3 } })];
  } finally {
    redis.disconnect();
    await stores.close();
  }
};

/** Reads the turn to its last word. Parsing happens after the clock has stopped. */
async function timeAttach(port: number, sessionId: string): Promise<number> {
  const pieces: string[] = [];
  const from = performance.now();
  let ms = NaN;
  await readRaw({
    port,
    path: `/api/chat/${sessionId}`,
    onPiece: (piece) => {
      pieces.push(piece);
      ms = performance.now() - from;
      return piece.includes(LAST_WORD);
    },
  });
  let text = '';
  const takeLines = createDataLines((json) => {
    if (json.startsWith('{"type":"text-delta"')) text += deltaOf(json);
  });
  for (const piece of pieces) takeLines(piece, 0);
  if (text !== TEXT.join('')) throw new Error('the replay was not complete');
  return ms;
}

/** Times the load of the whole log into a process. */
async function timeRange(redis: Redis, sessionId: string): Promise<number> {
  const from = performance.now();
  const entries = await redis.xrange(createKeySpace().session(sessionId).stream, '-', '+');
  for (const [, fields] of entries) JSON.parse(jsonOf(fields));
  return performance.now() - from;
}
