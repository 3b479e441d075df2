import { Redis } from 'ioredis';
import type { Place, Read } from '../../../session/tree.js';
import { createChange, type Backend, type Loaded } from '../../../store/change.js';
import { APPEND, createBackend, type Evaluate } from '../../../store/redis/backend.js';
import { createKeyspace } from '../../../stores/memory/keyspace/keyspace.js';
import { evaluateOn } from '../../../stores/memory/local-scripts.js';
import { createKeySpace } from '../../../stores/redis/keys.js';
import { createMake } from '../../../stores/redis/make-change.js';
import { createRunLibrary } from '../../../stores/redis/run-library.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { randomPath } from './random/random-path.js';
import { SESSION } from './plan.js';
import { ask, KEEP, type Data } from './record/data.js';
import { SUB } from './record/facts.js';
import { CHANGES, type Decide, type Sent } from './record/play.js';

/** A database of its own. */
const DATABASE = 7;
const PATHS = 1_000;
/** Paths that are played at the same time, each under a prefix of its own. */
const TOGETHER = 50;
const SEED = Number(process.env['MODEL_SEED'] ?? 1);

let redis: Redis;
let evaluate: Evaluate;

beforeAll(async () => {
  redis = new Redis(sharedRedisUrl(), { db: DATABASE });
  ({ evaluate } = createRunLibrary(redis));
  await redis.flushdb();
});

afterAll(async () => {
  await redis.flushdb();
  redis.disconnect();
});

/** A store whose clock the path sets: deadlines come of the clock of Redis, which cannot be moved past them. */
function createStore(
  evaluateOnIt: Evaluate,
  prefix: string,
): { send: Send; load: Backend['load'] } {
  let [version, clock] = [0, 0];
  const newVersion = (): string => String((version += 1));
  const backend = createBackend(evaluateOnIt, { prefix, keep: KEEP, newVersion });
  const load: Backend['load'] = async (...read) => ({
    ...(await backend.load(...read)),
    now: clock,
  });
  const make = createMake(createChange({ ...backend, load }));
  const keys = createKeySpace(prefix);
  const send: Send = (sent, now) => {
    clock = now;
    if (sent.what === 'append') return evaluateOnIt(APPEND, keys.append(sent.sessionId), sent.args);
    return make(sent.sessionId, CHANGES[sent.what] as Decide, sent.input);
  };
  return { send, load };
}

type Send = (sent: Sent, now: number) => Promise<unknown>;

const PLACES: readonly Place[] = [
  ...(['record', 'writers', 'index', 'content', 'runs', 'children', 'files', 'results'] as const),
];
const MOST = 1_000_000;
/** All that is stored. */
const READS: readonly Read[] = [
  ...['', SUB].flatMap((part): Read[] => [
    ...PLACES.map((place) => ['fields', place, part] as const),
    ['rows', part, 0, MOST],
  ]),
  ['entries', 0, MOST, MOST],
];

/** What is stored, in one form for all stores. */
function toStored({ sequence, logBytes, replies }: Omit<Loaded, 'now' | 'version'>): unknown {
  const places = READS.map((read, at) => {
    const reply = (replies[at] ?? []) as string[];
    if (read[0] !== 'fields') return reply;
    const fields = reply.flatMap((name, n) => (n % 2 === 0 ? [[name, reply[n + 1]] as const] : []));
    const { v, seq, logBytes: bytes, ...rest } = Object.fromEntries(fields);
    return rest;
  });
  return { sequence, logBytes, places };
}

function storedOf(data: Data): unknown {
  return toStored({ ...data, replies: READS.map((read) => ask(data, read)) });
}

const NAMES: Partial<Record<string, string>> = { record: 'root', log: 'stream' };

/** Keys of the model that expire, as a store calls them. */
function expiringOf({ expiring }: Data, prefix: string): string[] {
  return [...expiring]
    .map((at) => {
      const [part = '', name = ''] = at.split(':');
      return `${prefix}:{${SESSION}}:${part === '' ? '' : `${part}:`}${NAMES[name] ?? name}`;
    })
    .sort();
}

async function expiringIn(prefix: string): Promise<string[]> {
  const keys = (await redis.keys(`${prefix}:*`)).sort();
  const left = await Promise.all(keys.map((key) => redis.pttl(key)));
  return keys.filter((_, at) => (left[at] ?? 0) >= 0);
}

/** Plays a path on Redis and in memory. @returns how many requests it has */
async function compare(seed: number): Promise<number> {
  const { trace, requests, data } = randomPath(seed);
  const prefix = `m${String(seed)}`;
  const keyspace = createKeyspace({ now: Date.now });
  const where = `seed ${String(seed)}: ${trace.join(' → ')}`;
  const replies = requests.map(({ reply }) => reply);
  const stored = storedOf(data);
  const expiring = expiringOf(data, prefix);
  const inMemory = (): string[] =>
    Object.entries(keyspace.dump()).flatMap(([key, { expires }]) => (expires ? [key] : []));
  const stores = [
    { name: 'Redis', of: evaluate, readExpiring: () => expiringIn(prefix) },
    { name: 'memory', of: evaluateOn(keyspace), readExpiring: inMemory },
  ];
  for (const { name, of, readExpiring } of stores) {
    const { send, load } = createStore(of, prefix);
    const given: unknown[] = [];
    for (const { sent, now } of requests) given.push(await send(sent, now));
    expect({ name, where, replies: given }).toEqual({ name, where, replies });
    expect({ name, where, stored: toStored(await load(SESSION, READS)) }).toEqual({
      name,
      where,
      stored,
    });
    expect({ name, where, expiring: await readExpiring() }).toEqual({ name, where, expiring });
  }
  return requests.length;
}

it(`a path gives the same replies on Redis and in memory, which store the same (seed ${String(SEED)})`, async () => {
  process.stderr.write(`paths of seed ${String(SEED)}; MODEL_SEED repeats them\n`);
  let requests = 0;
  for (let n = 0; n < PATHS; n += TOGETHER) {
    const seeds = Array.from({ length: TOGETHER }, (_, at) => SEED + n + at);
    for (const count of await Promise.all(seeds.map(compare))) requests += count;
    await redis.flushdb();
  }
  expect(requests).toBeGreaterThan(PATHS * 10);
}, 180_000);
