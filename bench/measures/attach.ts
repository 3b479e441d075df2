import { Redis } from 'ioredis';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { jsonOf } from '../../store/redis/entries.js';
import type { RedisStores } from '../../store/redis/index.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { newSessionId } from '../client/chat-client.js';
import { createDataLines, readRaw } from '../client/raw-stream.js';
import { endTurn, openStores, seedDeltas, seedTurn } from '../client/seed-turn.js';
import { followPage, startStampedStreams } from '../client/stamped-streams.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { startApi } from '../processes/product.js';
import { summarize, type Aim, type Row, type Summary } from '../report.js';

/** End mark of a long turn; a reader that has it has everything. */
const LAST_WORD = '~end~';

/** Returns a turn's text as deltas of the size that models send. */
function longText(chunks: number): string[] {
  const words = Array.from({ length: chunks - 1 }, (_, index) => `word${String(index % 97)} `);
  return [...words, LAST_WORD];
}

interface Attached {
  ms: number;
  /** Text received up to then. */
  text: string;
}

/** Reads a turn to its last word. Parsing happens after the clock has stopped. */
async function attach(
  port: number,
  sessionId: string,
  headers: Record<string, string> = {},
): Promise<Attached> {
  const pieces: string[] = [];
  const startedAt = wallClock();
  let endedAt = NaN;
  await readRaw({
    port,
    method: 'GET',
    path: `/api/chat/${sessionId}`,
    headers,
    onPiece: (piece, at) => {
      pieces.push(piece);
      endedAt = at;
      return piece.includes(LAST_WORD);
    },
  });
  return { ms: endedAt - startedAt, text: textOf(pieces) };
}

function textOf(pieces: readonly string[]): string {
  let text = '';
  const takeLines = createDataLines((json) => {
    if (json.startsWith('{"type":"text-delta"')) {
      text += (JSON.parse(json) as { delta: string }).delta;
    }
  });
  for (const piece of pieces) takeLines(piece, 0);
  return text;
}

const STREAMS = 200;
const EVERY_MS = 20;
const WARM_MS = 3_000;
const BETWEEN_ATTACHES_MS = 200;

interface AttachBesideLive {
  attach: Summary;
  /** Latency from append to page of the live streams, before any attach. */
  before: Summary;
  meanwhile: Summary;
}

/** Attaches to a long turn repeatedly while the API has 200 live streams. */
async function measureAttachBesideLive(bench: Bench, sessionId: string): Promise<AttachBesideLive> {
  const { port } = bench.product;
  const windowMs = bench.isQuick ? 1_500 : 8_000;
  const stamps = (WARM_MS + 2 * windowMs + 3_000) / EVERY_MS;
  const size = { streams: STREAMS, stamps, everyMs: EVERY_MS };
  const live = await startStampedStreams(bench.servers.redisUrl, size);
  const leave = createLeave();
  const samples: { ms: number; at: number }[] = [];
  const readers = live.sessions.map((id) =>
    followPage(port, id, (ms, at) => samples.push({ ms, at }), leave.signal),
  );
  const between = (from: number, to: number): Summary =>
    summarize(samples.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms));
  try {
    live.begin();
    await sleep(WARM_MS);
    const beganAt = wallClock();
    await sleep(windowMs);
    const attachedAt = wallClock();
    const attached: number[] = [];
    while (wallClock() < attachedAt + windowMs) {
      attached.push((await attach(port, sessionId)).ms);
      await sleep(BETWEEN_ATTACHES_MS);
    }
    return {
      attach: summarize(attached),
      before: between(beganAt, attachedAt),
      meanwhile: between(attachedAt, wallClock()),
    };
  } finally {
    leave.abort();
    await Promise.allSettled(readers);
    await live.stop();
  }
}

const CHUNKS = 10_000;
/** Chunks of typical turns. */
const SHORT = [10, 1_000];
const AT_ONCE = 10;
/** Longer than viewers share one read, so each round reads for itself. */
const BETWEEN_MS = 250;
/** Factors over the p99 of one read. With so few samples p99 is the slowest one. */
const AIM = { ratioP99: 1.3 };
const AIM_OF_TEN_TURNS = { ratioP99: 2.5 };
const AIM_OF_SHORT = { p50: 50, p99: 50 };

/** Time until a late reader of a long turn has all of its text so far. */
export const attachToLongTurn: Measurement = {
  name: 'attach',
  take: async (bench) => {
    const redis = openStores(bench.servers.redisUrl);
    const rounds = bench.isQuick ? 2 : 20;
    try {
      bench.say(`attach: writing turns of ${String(CHUNKS)} chunks`);
      const turns = await Promise.all(Array.from({ length: AT_ONCE }, () => seed(redis, false)));
      const [turn = ''] = turns;
      const over = await seed(redis, true);
      const { port } = bench.product;
      bench.say('attach: reading');
      const floor = summarize(await measureLogFloor(bench.servers.redisUrl, turn, rounds));
      const log = await measureLogRead(redis.streamManager, turn, CHUNKS, rounds);
      const cold = await attachCold(bench, turn, bench.isQuick ? 1 : 5);
      const warm = await repeat(rounds, () => attachAll(port, [turn]));
      const ended = await repeat(rounds, () => attachAll(port, [over]));
      const short: Row[] = [];
      for (const chunks of SHORT) short.push(await measureShort(bench, redis, chunks, rounds));
      const same = await repeat(rounds / 2, () =>
        attachAll(
          port,
          turns.map(() => turn),
        ),
      );
      const different = await repeat(rounds / 2, () => attachAll(port, turns));
      bench.say('attach: beside 200 live streams');
      const beside = await measureAttachBesideLive(bench, turn);
      const toRow = (what: string, value: Summary, aim: Aim = AIM): Row => ({
        what,
        unit: 'ms',
        value,
        beside: { what: 'one XRANGE, each chunk parsed', value: floor },
        aim,
      });
      return {
        rows: [
          toRow(`attach to ${String(CHUNKS)} chunks, in the store`, summarize(log)),
          toRow('  over HTTP, first request of an API', summarize(cold)),
          toRow('  over HTTP, warm', summarize(warm)),
          toRow('  over HTTP, the turn is over', summarize(ended)),
          ...short,
          toRow(`  over HTTP, ${String(AT_ONCE)} at once to one turn`, summarize(same)),
          toRow(
            `  over HTTP, ${String(AT_ONCE)} at once to ${String(AT_ONCE)} turns`,
            summarize(different),
            AIM_OF_TEN_TURNS,
          ),
          toRow('  over HTTP, beside 200 live streams', beside.attach),
          {
            what: '  those streams meanwhile',
            unit: 'ms',
            value: beside.meanwhile,
            beside: { what: 'without attaches', value: beside.before },
            aim: { p99: 10, or: { ratioP99: 2 } },
          },
        ],
        notes: [],
      };
    } finally {
      await redis.close();
    }
  },
};

/** Measures a warm attach over HTTP to a turn of `chunks` chunks. */
async function measureShort(
  { servers, product }: Bench,
  redis: RedisStores,
  chunks: number,
  rounds: number,
): Promise<Row> {
  const turn = await seed(redis, false, chunks);
  const floor = await measureLogFloor(servers.redisUrl, turn, rounds);
  const value = summarize(await repeat(rounds, () => attachAll(product.port, [turn], chunks)));
  return {
    what: `  over HTTP, a turn of ${String(chunks)} chunks`,
    unit: 'ms',
    value,
    beside: { what: 'one XRANGE, each chunk parsed', value: summarize(floor) },
    aim: AIM_OF_SHORT,
  };
}

async function seed(redis: RedisStores, isOver: boolean, chunks = CHUNKS): Promise<string> {
  const sessionId = newSessionId();
  const text = longText(chunks);
  const writer = await seedTurn(redis, sessionId);
  await seedDeltas(redis, writer, text);
  if (isOver) await endTurn(redis, writer, text.join(''));
  return sessionId;
}

async function attachCold(bench: Bench, sessionId: string, times: number): Promise<number[]> {
  return repeat(times, async () => {
    const api = await startApi(bench.servers, TASK_QUEUE);
    try {
      return await attachAll(api.port, [sessionId]);
    } finally {
      await api.stop();
    }
  });
}

/** Attaches one reader to each turn, all at once. */
async function attachAll(
  port: number,
  turns: readonly string[],
  chunks = CHUNKS,
): Promise<number[]> {
  const expected = longText(chunks).join('');
  // The API sends an ended turn only to readers with a position before its end.
  const headers = { 'x-resume-from-sequence': '0' };
  const attached = await Promise.all(turns.map((turn) => attach(port, turn, headers)));
  if (attached.some(({ text }) => text !== expected)) throw new Error('a replay was not complete');
  return attached.map(({ ms }) => ms);
}

async function repeat(times: number, sample: () => Promise<number[]>): Promise<number[]> {
  const samples: number[] = [];
  for (let count = 0; count < times; count += 1) {
    samples.push(...(await sample()));
    await sleep(BETWEEN_MS);
  }
  return samples;
}

/** Time to load a whole log into a process, ms: one XRANGE, each chunk parsed. */
async function measureLogFloor(
  redisUrl: string,
  sessionId: string,
  times: number,
): Promise<number[]> {
  const redis = new Redis(redisUrl);
  const { stream } = createKeySpace().session(sessionId);
  const samples: number[] = [];
  try {
    await redis.ping();
    for (let count = 0; count < times; count += 1) {
      const startedAt = performance.now();
      const entries = await redis.xrange(stream, '-', '+');
      for (const [, fields] of entries) JSON.parse(jsonOf(fields));
      samples.push(performance.now() - startedAt);
    }
  } finally {
    redis.disconnect();
  }
  return samples;
}

/** Time for a follower to read the log from its beginning, ms. */
async function measureLogRead(
  streamManager: Pick<StreamManager, 'follow'>,
  sessionId: string,
  chunks: number,
  times: number,
): Promise<number[]> {
  const samples: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const leave = new AbortController();
    const startedAt = performance.now();
    let received = 0;
    for await (const entries of streamManager.follow(sessionId, 0, leave.signal)) {
      received += entries.length;
      if (received < chunks) continue;
      samples.push(performance.now() - startedAt);
      leave.abort();
    }
  }
  return samples;
}
