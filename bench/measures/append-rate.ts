import { Redis } from 'ioredis';
import { createChunkWriter } from '../../activities/chunk-writer.js';
import type { Writer } from '../../store/contract/log.js';
import type { RedisStores } from '../../store/redis/index.js';
import { corkWrites } from '../../store/redis/send.js';
import type { Bench, Measurement } from '../bench.js';
import { newSessionId } from '../client/chat-client.js';
import { openStores, seedTurn, toDelta } from '../client/seed-turn.js';
import type { Row } from '../report.js';

/** Streams, each with one append in flight. */
const STREAMS = 64;
const PER_CALL = 10;
const WARM_UP_MS = 500;

/** Repeats its work until the time is up; returns the number of chunks written. */
type Lane = (until: number) => Promise<number>;

/** Chunks that one process writes to Redis, against bare XADDs of the same chunks. */
export const appendRate: Measurement = {
  name: 'append-rate',
  take: async (bench) => {
    const { redisUrl: url } = bench.servers;
    const redis = openStores(url);
    const bare = new Redis(url);
    try {
      await Promise.all([redis.ping(), bare.ping()]);
      const measure = async (lanes: (writer: Writer) => Lane): Promise<number> => {
        const ids = Array.from({ length: STREAMS }, newSessionId);
        const writers = await Promise.all(ids.map((id) => seedTurn(redis, id)));
        return rateOf(bench, writers.map(lanes));
      };
      bench.say('append-rate: bare XADD');
      const floor = await measure((writer) => addBare(bare, writer));
      bench.say('append-rate: fenced appends');
      const single = await measure((writer) => append(redis, writer, 1));
      const several = await measure((writer) => append(redis, writer, PER_CALL));
      const written = await measure((writer) => write(redis, writer));
      const toRow = (what: string, rate: number, aim?: Row['aim']): Row => ({
        what,
        unit: 'k/s',
        value: { p50: rate },
        beside: { what: 'XADD, one chunk each', value: { p50: floor } },
        aim,
      });
      const aim = { ratioAtLeast: 0.5 };
      return {
        rows: [
          toRow('fenced appends, one chunk each', single, aim),
          toRow(`  ${String(PER_CALL)} chunks in each`, several, aim),
          toRow("  deltas through an activity's writer", written, aim),
        ],
        notes: [
          `append-rate: ${String(STREAMS)} streams, one call in flight for each. Under such load an ` +
            "activity's writer puts what waits into one call, and adjacent deltas into one chunk.",
        ],
      };
    } finally {
      bare.disconnect();
      await redis.close();
    }
  },
};

/** Returns thousands of chunks per second. */
async function rateOf({ isQuick }: Bench, lanes: Lane[]): Promise<number> {
  const run = async (ms: number): Promise<number> => {
    const startedAt = performance.now();
    const counts = await Promise.all(lanes.map((lane) => lane(startedAt + ms)));
    const total = counts.reduce((sum, count) => sum + count, 0);
    return total / (performance.now() - startedAt);
  };
  await run(WARM_UP_MS);
  return run(isQuick ? 1_000 : 4_000);
}

function addBare(redis: Redis, writer: Writer): Lane {
  const key = `floor:${writer.sessionId}`;
  const cork = corkWrites(redis);
  return async (until) => {
    let count = 0;
    while (performance.now() < until) {
      cork();
      await redis.xadd(key, '*', 'w', writer.name, 'c', JSON.stringify(toDelta(writer, 'word1 ')));
      count += 1;
    }
    return count;
  };
}

function append({ streamManager }: RedisStores, writer: Writer, perCall: number): Lane {
  let batch = 0;
  return async (until) => {
    let count = 0;
    while (performance.now() < until) {
      const chunks = Array.from({ length: perCall }, () => toDelta(writer, 'word1 '));
      const { kind } = await streamManager.append(writer, ++batch, chunks);
      if (kind !== 'appended') throw new Error(`an append was refused: ${kind}`);
      count += perCall;
    }
    return count;
  };
}

/** A lane whose model produces text as fast as it is read. */
function write({ streamManager }: RedisStores, writer: Writer): Lane {
  const refuse = (): never => {
    throw new Error('an append was refused');
  };
  const chunks = createChunkWriter(streamManager, writer, refuse);
  return async (until) => {
    let count = 0;
    while (performance.now() < until) {
      chunks.push([toDelta(writer, 'word1 ')]);
      count += 1;
      await (count % 100 === 0 ? chunks.flush() : chunks.room());
    }
    await chunks.flush();
    return count;
  };
}
