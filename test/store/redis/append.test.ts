import { LAYOUT } from '../../../session/record.js';
import { createKeyspace } from '../../../store/memory/keyspace.js';
import { createLocalAtomic } from '../../../store/memory/local-redis.js';
import { APPEND } from '../../../store/redis/atomic.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { newSessionId } from '../../support/session-driver.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const live = (state: string, layout = LAYOUT): string => `${String(layout)} ${state}`;

/** What a writer appends, with the reply. The first messages of a batch may be short, the others not. */
const APPENDS: [live: string, args: string, messages: string[], reply: number[]][] = [
  [live('r 0 0'), 'r w 7 2 11 0 ', ['x'], [5]],
  [live('r 0 0'), 'r w 7 1 11 1 ', ['x'], [5]],
  [live('r 0 0'), 'q w 8 1 11 0 ', ['x'], [3]],
  [live('r 0 0'), 'r w 8 1 11 0 ', ['x'], [2]],
  [live('r 0 0', LAYOUT + 1), 'r w 7 1 11 0 ', ['x'], [6]],
  [live('r 0 1'), '* w 7 1 11 0 ', ['x'], [4]],
  [live('r 0 1'), 'r w 7 1 12 0 a0,b2', ['["é"]', '{"é":1}', '["z"]'], [1, 3, 0]],
  [live('q 1 0', LAYOUT + 1), 'r w 7 1 13 9 ', ['x'], [1, 3, 1]],
  [live('r 1 0'), 'r w 7 2 14 3 a1', ['{"y":1}', '["y"]'], [1, 5, 1]],
  [live('r 0 0'), '* v 1 0 15 5 ', ['["v"]'], [1, 6, 0]],
];

it('an append is decided in Redis as in memory', async () => {
  const { redis } = stores;
  const keyspace = createKeyspace({ now: Date.now });
  const local = createLocalAtomic(keyspace);
  const keys = createKeySpace().append(newSessionId());
  const [root = '', writers = '', , stream = ''] = keys;
  const set = async (key: string, ...fields: string[]): Promise<void> => {
    keyspace.call('HSET', key, ...fields);
    await redis.hset(key, ...fields);
  };
  await set(writers, 't:w', '7', 'b:w', '0 0', 't:v', '1');
  for (const [state, args, messages, reply] of APPENDS) {
    await set(root, 'live', state);
    const given = [...args.split(' ').map((each) => each.replace(',', ' ')), ...messages];
    expect([args, await redis.eval(APPEND.code, keys.length, ...keys, ...given)]).toEqual([
      args,
      reply,
    ]);
    expect([args, await local.append(keys, given)]).toEqual([args, reply]);
  }
  for (const [key, fields] of [
    [root, { live: live('r 0 0'), seq: '6', logBytes: '36', appended: '15' }],
    [writers, { 't:w': '7', 'b:w': '2 5', 'e:w': 'a1 b3 a5', 't:v': '1', 'b:v': '0 6' }],
  ] as const) {
    expect(await redis.hgetall(key)).toEqual(fields);
    const flat = keyspace.call('HGETALL', key) as string[];
    const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : []));
    expect(Object.fromEntries(pairs)).toEqual(fields);
  }
  // A message that is no short delta names its fields.
  expect((await redis.xrange(stream, '-', '+')).map(([id, fields]) => [id, ...fields])).toEqual([
    ['1-0', 'w', '["é"]'],
    ['2-0', 'w', 'w', 'c', '{"é":1}'],
    ['3-0', 'w', '["z"]'],
    ['4-0', 'w', 'w', 'c', '{"y":1}'],
    ['5-0', 'w', '["y"]'],
    ['6-0', 'v', '["v"]'],
  ]);
});
