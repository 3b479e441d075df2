import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { RedisStateStore, RedisStreamManager } from '../../../store/redis/index.js';
import { startFollower, type Follower } from '../../support/follower.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';

/** Fault that a published message meets on its way to the subscriber. */
type Fate = 'deliver' | 'drop' | 'delay' | 'double' | 'cut' | 'foreign';

const GARBAGE = [
  '',
  'hello',
  '[]',
  '[1,[[2,"m1",null]]]',
  '[0,[["1","m1",{}]]]',
  '{"a":1}',
  '[3,[]]',
];

/**
 * Tampers with messages between a subscription and its listeners. Each message takes the next fate;
 * after the last one, messages pass. A delayed message comes after the next, so the order changes.
 */
function tamperWith(subscriber: Redis, fates: readonly Fate[]): Redis {
  const heard = new EventEmitter();
  let next = 0;
  let delayed: [string, string][] = [];
  subscriber.on('smessage', (channel: string, text: string) => {
    const pass = (message: string): boolean => heard.emit('smessage', channel, message);
    const fate = fates[next] ?? 'deliver';
    next += 1;
    if (fate === 'delay') {
      delayed.push([channel, text]);
      return;
    }
    if (fate === 'foreign') pass(GARBAGE[next % GARBAGE.length] ?? '');
    if (fate === 'cut') pass(text.slice(0, text.length / 2));
    else if (fate !== 'drop') pass(text);
    if (fate === 'double') pass(text);
    const late = delayed.reverse();
    delayed = [];
    for (const [where, message] of late) heard.emit('smessage', where, message);
  });
  return new Proxy(subscriber, {
    get: (target, name) => {
      if (name === 'on') {
        return (event: string, listener: (...args: unknown[]) => void) =>
          event === 'smessage' ? heard.on(event, listener) : target.on(event as 'ready', listener);
      }
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}

const WORDS = 40;

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.close();
});

const fate = fc.constantFrom<Fate>('deliver', 'drop', 'delay', 'double', 'cut', 'foreign');
const moment = fc.nat({ max: WORDS - 1 });

interface Faults {
  fates: Fate[];
  /** Word numbers at which the connection is killed, or a follower joins. */
  kills: number[];
  joins: number[];
}

/** Faults between Redis and its followers while a writer speaks. */
const faults: fc.Arbitrary<Faults> = fc.record({
  fates: fc.array(fate, { minLength: 5, maxLength: 2 * WORDS }),
  kills: fc.uniqueArray(moment, { maxLength: 2 }),
  joins: fc.array(moment, { maxLength: 3 }),
});

async function followThrough({ fates, kills, joins }: Faults): Promise<void> {
  const subscriber = new Redis(server.url, { maxRetriesPerRequest: null });
  subscriber.on('error', () => undefined);
  const streamManager = new RedisStreamManager(redis, tamperWith(subscriber, fates));
  const { session, say } = await openSpeaker({ store: new RedisStateStore(redis), streamManager });
  const followers: Follower[] = [startFollower(streamManager, session.id, 0)];
  for (const [n, word] of words(WORDS).entries()) {
    for (const join of joins) {
      if (join === n) followers.push(startFollower(streamManager, session.id, 0));
    }
    if (kills.includes(n)) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await say(word);
  }
  await until('all have all, though more comes', async () => {
    await say('. ');
    return followers.every(({ entries }) => entries.length >= WORDS);
  });
  await Promise.all(followers.map((follower) => follower.stop()));
  subscriber.disconnect();
  const log = await session.log();
  expect(textIn(log)).toContain(words(WORDS).join(''));
  for (const { entries } of followers) expect(entries).toEqual(log.slice(0, entries.length));
}

it('followers get exactly the log, whatever happens to published messages', async () => {
  await fc.assert(fc.asyncProperty(faults, followThrough), {
    numRuns: 30,
    examples: [
      [{ fates: Array.from({ length: 30 }, () => 'drop'), kills: [10, 20], joins: [5] }],
      [{ fates: Array.from({ length: 60 }, () => 'foreign'), kills: [], joins: [0] }],
      [{ fates: Array.from({ length: 60 }, () => 'cut'), kills: [], joins: [] }],
    ],
  });
});
