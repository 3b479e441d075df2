import { createKeyspace } from '../../../store/memory/keyspace.js';
import { createLocalAtomic, createLocalCommands } from '../../../store/memory/local-redis.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { createPauses } from '../../../store/redis/pauses.js';
import { slotOf } from '../../support/redis-slots.js';

type Methods<Of> = { [Name in keyof Of]: (...args: never[]) => unknown };

/** Wraps commands of a process that dies after `count` of them. */
function dyingAfter<Of extends Methods<Of>>(count: number, commands: Of): Of {
  let left = count;
  return new Proxy(commands, {
    get:
      (of, name) =>
      (...args: never[]) => {
        left -= 1;
        if (left < 0) return Promise.reject(new Error('it has died'));
        return of[name as keyof Of](...args);
      },
  });
}

const keys = createKeySpace();
const RUN = { runId: 's-1:1-a', agent: 'guide', startedAt: 1 };
const PAUSE = { agent: 'guide', everywhere: false };

it.each([0, 1, 2, 3])(
  'a run whose process dies after %i commands is not held without end',
  async (count) => {
    const keyspace = createKeyspace({ now: Date.now, publish: () => undefined });
    const context = {
      ...createLocalCommands(keyspace),
      writeIf: createLocalAtomic(keyspace).writeIf,
    };
    const open = ({ writeIf, ...redis }: typeof context) =>
      createPauses({ redis, keys, writeIf }, 'test');
    const pauses = open(context);
    await pauses.set({ ...PAUSE, at: 1, by: 'olga' });
    const dying = open(dyingAfter(count, context));
    await dying.hold(RUN).catch(() => undefined);
    await pauses.clear(PAUSE);
    const released = await pauses.released(10);
    expect(released.length === 1).toBe(await pauses.isHeld(RUN));
  },
);

it('a run that is held while the last one of its agent is dropped is released', async () => {
  const keyspace = createKeyspace({ now: Date.now });
  const redis = createLocalCommands(keyspace);
  const { writeIf } = createLocalAtomic(keyspace);
  const pauses = createPauses({ redis, keys, writeIf }, 'test');
  await pauses.set({ ...PAUSE, at: 1, by: 'olga' });
  await pauses.hold(RUN);
  const other = { ...RUN, runId: 's-2:1-a' };
  const hdel = async (key: string, field: string): Promise<number> => {
    await pauses.hold(other);
    return redis.hdel(key, field);
  };
  const late = { ...redis, hdel } as typeof redis;
  await createPauses({ redis: late, keys, writeIf }, 'test').drop(RUN);
  await pauses.clear(PAUSE);
  expect(await pauses.released(10)).toEqual([other]);
});

it('the keys of a fleet live in one slot of a cluster', () => {
  for (const fleet of ['default/helix', 'a}b{c']) {
    const { paused, lists, held } = keys.pauses(fleet);
    expect(new Set([paused, lists, held('t:guide'), held('tacme:other')].map(slotOf)).size).toBe(1);
  }
});
