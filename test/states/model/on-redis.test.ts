import { Redis } from 'ioredis';
import type { Place, Read } from '../../../session/fields.js';
import { createChange, type Backend } from '../../../store/change.js';
import { createAtomic, type Atomic } from '../../../store/redis/atomic.js';
import { createBackend } from '../../../store/redis/backend.js';
import { createKeyspace } from '../../../store/memory/keyspace.js';
import { createLocalAtomic } from '../../../store/memory/local-redis.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { createEvaluate } from '../../../store/redis/send.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { randomPath } from './random-path.js';
import { SESSION } from './plan.js';
import { ask, KEEP } from './record/data.js';
import { SUB } from './record/facts.js';
import { CHANGES, type Decide, type Sent } from './record/play.js';

/** Database number that no other test uses. */
const DATABASE = 7;
/** Played concurrently, each under its own prefix. */
const PATHS = 50;
const SEED = Number(process.env['MODEL_SEED'] ?? 1);

let redis: Redis;
let onRedis: Atomic;

beforeAll(async () => {
  redis = new Redis(sharedRedisUrl(), { db: DATABASE });
  onRedis = createAtomic(createEvaluate(redis));
  await redis.flushdb();
});

afterAll(async () => {
  await redis.flushdb();
  redis.disconnect();
});

const PLACES = [
  'record',
  'writers',
  'index',
  'content',
  'runs',
  'children',
] as const satisfies Place[];
const MAX = 1_000_000;
const READS: readonly Read[] = [
  ...['', SUB].flatMap((part): Read[] => [
    ...PLACES.map((place) => ['fields', place, part] as const),
    ['rows', part, 0, MAX],
  ]),
  ['entries', 0, MAX, MAX],
];
const NAMES = [
  ...['', SUB].flatMap((part) => [...PLACES, 'rows'].map((name) => `${part}:${name}`)),
  ':log',
];

/** Brings replies into a form that is the same for all stores. */
function toStored(replies: readonly unknown[]): unknown {
  return replies.map((reply, at) => {
    if (READS[at]?.[0] !== 'fields') return reply ?? [];
    const flat = (reply ?? []) as string[];
    const fields = flat.flatMap((name, n) => (n % 2 === 0 ? [[name, flat[n + 1]] as const] : []));
    // The store keeps these counters of the log as fields; the model keeps them elsewhere.
    return Object.fromEntries(fields.filter(([name]) => !['v', 'seq', 'logBytes'].includes(name)));
  });
}

interface Played {
  replies: unknown[];
  sequence: number;
  logBytes: number;
  stored: unknown;
  expiring: string[];
}

/** Plays requests with their own clocks, since the clock of Redis cannot jump past deadlines. */
async function playOn(
  atomic: Atomic,
  prefix: string,
  requests: readonly { sent: Sent; now: number }[],
): Promise<Played> {
  let clock = 0;
  const backend = createBackend({ ...atomic, keys: createKeySpace(prefix), keep: KEEP });
  const load: Backend['load'] = async (...reads) => ({
    ...(await backend.load(...reads)),
    now: clock,
  });
  const { change } = createChange({ ...backend, load });
  const keys = createKeySpace(prefix);
  const replies: unknown[] = [];
  for (const { sent, now } of requests) {
    clock = now;
    const replied =
      sent.what === 'append'
        ? atomic.append(keys.append(sent.sessionId), sent.args)
        : change(sent.sessionId, CHANGES[sent.what] as Decide, sent.input);
    replies.push(await replied);
  }
  const { sequence, logBytes, replies: read } = await load(SESSION, READS, false);
  const times = NAMES.map((at) => {
    const [part = '', name = ''] = at.split(':');
    const key = { record: 'root', log: 'stream' }[name] ?? name;
    return ['PTTL', `${prefix}:{${SESSION}}:${part === '' ? '' : `${part}:`}${key}`];
  });
  const loaded = (await atomic.load(
    [keys.session(SESSION).root, 'none'],
    times,
    false,
  )) as unknown[];
  const left = loaded.at(-1) as number[];
  const expiring = NAMES.filter((_, at) => (left[at] ?? 0) >= 0);
  return { replies, sequence, logBytes, stored: toStored(read), expiring };
}

/** Plays a path on Redis and in memory. Returns the number of its requests. */
async function compare(seed: number): Promise<number> {
  const { trace, requests, data } = randomPath(seed);
  const { sequence, logBytes } = data;
  const stored = toStored(READS.map((read) => ask(data, read)));
  const expiring = NAMES.filter((at) => data.expiring.has(at));
  const replies = requests.map(({ reply }) => reply);
  const expected = { replies, sequence, logBytes, stored, expiring };
  const prefix = `m${String(seed)}`;
  const inMemory = createLocalAtomic(createKeyspace({ now: Date.now }));
  for (const [store, atomic] of Object.entries({ Redis: onRedis, memory: inMemory })) {
    const where = `${store}, seed ${String(seed)}: ${trace.join(' → ')}`;
    const played = await playOn(atomic, prefix, requests);
    expect({ where, ...played }).toEqual({ where, ...expected });
  }
  return requests.length;
}

it(`a path gives the same replies on Redis and in memory, which store the same (seed ${String(SEED)})`, async () => {
  process.stderr.write(`paths of seed ${String(SEED)}; MODEL_SEED repeats them\n`);
  const seeds = Array.from({ length: PATHS }, (_, at) => SEED + at);
  const counts = await Promise.all(seeds.map(compare));
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(PATHS * 10);
});
