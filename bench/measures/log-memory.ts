import { Redis } from 'ioredis';
import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { longText } from '../client/attach-client.js';
import { followRaw } from '../client/raw-chat.js';
import { seedDeltas, seedTurn, toDelta } from '../client/seed-turn.js';
import { newSessionId } from '../client/session-ids.js';
import { createLeave, sleep } from '../clock.js';
import { startChild } from '../processes/child.js';
import { startApi } from '../processes/product.js';
import { residentMegabytes } from '../processes/usage.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { openStores } from '../stores.js';
import type { RedisStores } from '../../stores/redis/index.js';
import type { Row } from '../report/row.js';

const CHUNKS = 10_000;
const SETTLE_MS = 2_000;

/** What the log costs: a chunk in Redis, and a follower that waits in a process. */
export const logMemory: Measurement = {
  name: 'log-memory',
  take: async (bench) => {
    const followers = bench.isQuick ? 100 : 1_000;
    const redis = openStores(bench.servers.redisUrl);
    try {
      bench.say('log-memory: chunks in Redis');
      const chunk = await measureChunk(bench, redis);
      bench.say(`log-memory: ${String(followers)} followers`);
      const process = await measureFollowers(bench, followers);
      bench.say(`log-memory: ${String(followers)} pages`);
      const page = await measurePages(bench, redis, followers);
      return { rows: [chunk, ...process, page], notes: [] };
    } finally {
      await redis.close();
    }
  },
};

async function measureChunk({ servers }: Bench, stores: RedisStores): Promise<Row> {
  const redis = new Redis(servers.redisUrl);
  try {
    const writer = await seedTurn(stores, newSessionId());
    const text = longText(CHUNKS);
    await seedDeltas(stores, writer, text);
    const { stream } = createKeySpace().session(writer.sessionId);
    const bytes = Number(await redis.memory('USAGE', stream, 'SAMPLES', 0));
    const json = JSON.stringify(toDelta(writer, text[0] ?? '')).length;
    return {
      what: 'a text delta in Redis',
      unit: 'bytes',
      value: { p50: bytes / CHUNKS },
      beside: { what: 'its JSON', value: { p50: json } },
      aim: { p50: 75 },
    };
  } finally {
    redis.disconnect();
  }
}

interface Memory {
  heap: number;
  resident: number;
}

async function measureFollowers({ servers }: Bench, count: number): Promise<Row[]> {
  const args = [servers.redisUrl, `${newSessionId()}-`, String(count)];
  const nodeArgs = ['--expose-gc'];
  const child = startChild('bench/load/idle-followers.js', { args, nodeArgs });
  try {
    const before = (await child.hear()) as Memory;
    await sleep(SETTLE_MS);
    child.tell('look');
    const after = (await child.hear()) as Memory;
    const each = (kind: keyof Memory): number => (after[kind] - before[kind]) / count / 1024;
    return [
      { what: 'an idle follower, heap', unit: 'KB', value: { p50: each('heap') } },
      { what: '  resident', unit: 'KB', value: { p50: each('resident') } },
    ];
  } finally {
    await child.stop();
  }
}

async function measurePages(bench: Bench, redis: RedisStores, count: number): Promise<Row> {
  const api = await startApi(bench.servers, TASK_QUEUE);
  const leave = createLeave();
  try {
    const ids = Array.from({ length: count }, newSessionId);
    for (const id of ids) await seedTurn(redis, id);
    await sleep(SETTLE_MS);
    const before = residentMegabytes(api.pid) ?? NaN;
    const pages = ids.map((id) => followRaw(api.port, id, () => undefined, leave.signal));
    await sleep(SETTLE_MS);
    const after = residentMegabytes(api.pid) ?? NaN;
    leave.abort();
    await Promise.all(pages);
    const value = { p50: ((after - before) * 1024) / count };
    return { what: "  a page's idle stream, resident in the API", unit: 'KB', value };
  } finally {
    leave.abort();
    await api.stop();
  }
}
