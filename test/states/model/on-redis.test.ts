import { Redis } from 'ioredis';
import { libraryName, THIS_LIBRARY } from '../../../stores/redis/library.js';
import { createRunLibrary, type RunLibrary } from '../../../stores/redis/run-library.js';
import { dumpKeys } from '../../support/redis-dump.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { randomPath, type Path } from './random/random-path.js';
import { toDump, type Dump } from './random/dumps.js';
import { SESSION } from './plan.js';

/** A database of its own: the paths all use one session. */
const DATABASE = 7;
const CLOCK = 'model:clock';
const PATHS = 1_000;
const SEED = Number(process.env['MODEL_SEED'] ?? 1);

/**
 * The library with a clock that the test sets: deadlines come of the clock of Redis, which can neither be
 * the model's nor be moved past them.
 */
const LIBRARY = {
  hash: 'model',
  modules: THIS_LIBRARY.modules.map((module) => ({
    ...module,
    code: module.code.replaceAll('redis.call("TIME")', `redis.call("LRANGE", "${CLOCK}", 0, 1)`),
  })),
};

let redis: Redis;
let run: RunLibrary;

beforeAll(async () => {
  redis = new Redis(sharedRedisUrl(), { db: DATABASE });
  run = createRunLibrary(redis, { library: LIBRARY });
  await redis.flushdb();
  // The first call loads the library and is sent once more, behind changes of the clock that follow it.
  const path = randomPath(SEED);
  await playOnRedis({ ...path, requests: path.requests.slice(0, 1) });
});

afterAll(async () => {
  await redis.flushdb();
  await redis.function('DELETE', libraryName(LIBRARY));
  redis.disconnect();
});

/** The replies of Redis to the requests of a path, and what it stores in the end. */
async function playOnRedis({ requests }: Path): Promise<{ replies: unknown[]; dump: Dump }> {
  await redis.unlink((await redis.keys(`hx:{${SESSION}}:*`)).concat(CLOCK));
  const replies = requests.map(async ({ call, now }, at) => {
    if (now !== requests[at - 1]?.now) {
      const seconds = Math.floor(now / 1_000);
      void redis
        .multi()
        .del(CLOCK)
        .rpush(CLOCK, seconds, (now % 1_000) * 1_000)
        .exec();
    }
    return run('writing', call.keys, call.args);
  });
  return {
    replies: await Promise.all(replies),
    dump: toDump(await dumpKeys(redis, `hx:{${SESSION}}:*`)),
  };
}

it(`a path gives the same replies on Redis, which stores the same (seed ${String(SEED)})`, async () => {
  process.stderr.write(`paths of seed ${String(SEED)}; MODEL_SEED repeats them\n`);
  let requests = 0;
  for (let n = 0; n < PATHS; n += 1) {
    const path = randomPath(SEED + n);
    const { replies, dump } = await playOnRedis(path);
    const where = `seed ${String(SEED + n)}: ${path.trace.join(' → ')}`;
    expect({ where, replies }).toEqual({ where, replies: path.requests.map(({ reply }) => reply) });
    expect({ where, dump }).toEqual({ where, dump: path.dump });
    requests += path.requests.length;
  }
  expect(requests).toBeGreaterThan(PATHS * 10);
}, 180_000);
