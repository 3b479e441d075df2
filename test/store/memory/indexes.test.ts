import { dueShardOf } from '../../../store/contract/due.js';
import {
  createMemoryData,
  createStoresOn,
  type MemoryOptions,
} from '../../../store/memory/index.js';
import { toAct } from '../../../runs/record/acts.js';
import type { SessionRecord } from '../../../session/record.js';
import type { RedisContext } from '../../../store/redis/context.js';
import { createKeySpace, ownerAt } from '../../../store/redis/keys.js';
import { createLocalAtomic, createLocalCommands } from '../../../store/memory/local-redis.js';
import { createUsage } from '../../../store/redis/usage.js';
import { drive, newCall, newSessionId, textIn, userMessage } from '../../support/session-driver.js';

const HOUR = 3_600_000;
const ANN = { owner: 'ann' };
const keys = createKeySpace();

/** Opens a store whose keys and whose clock the test can change. */
function open(options: Omit<MemoryOptions, 'now'> = {}) {
  let time = 1_000_000;
  const data = createMemoryData({ ...options, now: () => time });
  const stores = createStoresOn(data);
  const call = (name: string, ...args: (string | number)[]) => data.keyspace.call(name, ...args);
  return {
    ...stores,
    keyspace: data.keyspace,
    call,
    session: drive(stores),
    /** Loses the record of a session, as its expiry does. */
    lose: (sessionId: string) => call('UNLINK', keys.session(sessionId).root),
    pass: (ms: number): void => {
      time += ms;
    },
  };
}

describe('the lists of due sessions', () => {
  const ALL = { urgent: 9, routine: 9 };

  it('a session is on one list, and due at the earliest time that was noted later', async () => {
    const { due } = open().store;
    const shard = dueShardOf('s');
    const listed = () =>
      Promise.all((['urgent', 'routine'] as const).map((list) => due.listed(list, shard, 0, 9)));
    await due.noteLater('s', -1);
    await due.noteLater('s', HOUR);
    expect(await listed()).toEqual([[], ['s']]);
    expect(await due.take(shard, ALL, -1)).toHaveLength(1);
    await due.note('s', -1);
    expect(await listed()).toEqual([['s'], []]);
    for (const one of await due.take(shard, ALL, HOUR)) await due.put(one, 'routine', HOUR);
    expect(await listed()).toEqual([[], ['s']]);
  });

  it('two sweepers take each session once, and what is noted meanwhile stays', async () => {
    const { due } = open().store;
    const shard = dueShardOf('s');
    await due.note('s', -1);
    const takes = [due.take(shard, ALL, HOUR), due.take(shard, ALL, 2 * HOUR)];
    const [taken, ...more] = (await Promise.all(takes)).flat();
    expect(more).toEqual([]);
    await due.note('s', -1);
    if (taken !== undefined) await due.drop(taken);
    expect(await due.listed('urgent', shard, 0, 9)).toEqual(['s']);
  });

  it('one process of each fleet does a work', async () => {
    const { due } = open().store;
    expect(await due.leaseWork('w', 'a', HOUR)).toBe(true);
    expect(await due.of('other').leaseWork('w', 'a', HOUR)).toBe(true);
  });
});

it('stops that workers note are few and pass soon; of what they note nothing but the list of leases stays', async () => {
  const { store, call, pass } = open();
  const { leases } = store;
  if (leases === undefined) throw new Error('the store in memory has leases');
  const note = { sessionId: 's', runId: 'r' };
  for (let n = 0; n < 201; n += 1) await leases.noteStop(note);
  const stops = async () => (await leases.renew('w', HOUR)).stops.length;
  expect(await stops()).toBe(200);
  pass(5_001);
  expect(await stops()).toBe(0);
  const token = { taskToken: 't', workflowId: 'w', token: 1, number: 1 };
  await leases.hold('w', { id: 'a', runId: 'r', ...token });
  await leases.judge('w', HOUR);
  await leases.noteDeath();
  pass(25 * HOUR);
  expect([call('DBSIZE'), await leases.holders()]).toEqual([1, ['w']]);
});

describe('the lists of waiting sessions', () => {
  const waits = async ({ session }: ReturnType<typeof open>) => {
    await session.asked(newCall('a', 'approval'));
  };

  it('a session whose record is gone is forgotten on every list', async () => {
    const opened = open();
    const { call, lose, session, store } = opened;
    await waits(opened);
    expect(await store.waiting.since(`${session.id}.c1`)).toBe(1_000_000);
    lose(session.id);
    await store.waiting.forget(session.id);
    const { askingIndex, askingSince, tenantWaiting, waitingIndex } = keys;
    for (const key of [askingIndex, askingSince, tenantWaiting(), waitingIndex(ANN)])
      expect([key, call('PTTL', key)]).toEqual([key, -2]);
  });

  it.each([
    [
      'the oldest question is sought',
      ({ store }: ReturnType<typeof open>) => store.waiting.standing(),
    ],
    [
      'a page is read',
      ({ store }: ReturnType<typeof open>) => store.waiting.page(ANN, { limit: 1 }),
    ],
  ])('an answered one is dropped from the list of all when %s', async (_what, look) => {
    const opened = open();
    await waits(opened);
    const { runId = '' } = (await opened.session.record()) ?? {};
    await opened.session.decide(runId, 'a', true);
    await look(opened);
    expect(opened.call('ZCARD', keys.askingSince)).toBe(0);
  });

  it('a page looks at no more than 500 sessions, and the next one goes on behind them', async () => {
    const opened = open();
    const { call, session, store } = opened;
    await waits(opened);
    for (let n = 0; n < 501; n += 1) call('ZADD', keys.waitingIndex(ANN), n, newSessionId());
    const { sessions, cursor } = await store.waiting.page(ANN, { limit: 1 });
    expect(sessions).toEqual([]);
    const next = await store.waiting.page(ANN, { limit: 1, cursor });
    expect(next).toEqual({
      sessions: [
        expect.objectContaining({ record: expect.objectContaining({ sessionId: session.id }) }),
      ],
    });
  });
});

it('a rewind leaves nothing of what it drops', async () => {
  const { call, session, store } = open();
  const first = await session.newRun('u1');
  await session.ask(first.runId, 1, [newCall('a', 'server')]);
  await session.carryOut(first.runId, 1, 'a', 1);
  await session.save({ n: 1 }, 0);
  await session.ask(first.runId, 2, []);
  const second = await session.newRun('u2');
  await session.save({ n: 2 }, 1);
  await session.ask(second.runId, 1, [newCall('b', 'server')]);
  await session.carryOut(second.runId, 1, 'b', 1);
  await session.save({ n: 3 }, 2);
  await store.staging.stage(session.id, 's1', { toolCallId: 'b', patches: [] });
  await session.stop();
  await session.end(second.runId, 'interrupted');
  const { checkpoints } = await store.checkpoints.list(session.id);
  await session.rewindTo(checkpoints.at(-1)?.id ?? '');
  const { root, content, index } = keys.session(session.id);
  const { state } = JSON.parse(call('HGET', root, 'record') as string) as SessionRecord;
  expect(state).toMatchObject({ version: 4, kept: [[4, 7]], turns: [[1, 0]], staged: [] });
  expect(call('HKEYS', content)).toEqual(['v:4']);
  expect(call('HKEYS', index)).not.toContain('m:u2');
});

it.each([
  [1, ['u2', 'u3']],
  [0, ['u1', 'u2', 'u3']],
])(
  'the log that may have %i entries has those of the last turns, and their size',
  async (cap, left) => {
    const { call, session } = open({ maxChunks: cap });
    for (const id of ['u1', 'u2', 'u3']) {
      const { runId } = await session.newRun(id);
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, id);
      await session.commit(writer);
    }
    expect(textIn(await session.log())).toBe(left.join(''));
    const { root, stream } = keys.session(session.id);
    const entries = call('XRANGE', stream, '-', '+', 'COUNT', 99) as [string, string[]][];
    const sizes = entries.map(([, fields]) => Buffer.byteLength(fields.at(-1) ?? ''));
    expect(call('HGET', root, 'logBytes')).toBe(String(sizes.reduce((sum, size) => sum + size)));
  },
);

it('a repeated turn begins with the state of its new beginning', async () => {
  const { call, session } = open();
  const { runId } = await session.newRun('u1');
  await session.save({ n: 1 }, 0);
  await session.ask(runId, 1, [newCall('a', 'server')]);
  await session.stop();
  await session.end(runId, 'interrupted');
  await session.retry();
  const record = call('HGET', keys.session(session.id).root, 'record') as string;
  expect((JSON.parse(record) as SessionRecord).state.turns).toEqual([]);
});

describe('the figures of owners', () => {
  it('a second conversation does not put off the repair', async () => {
    const { session, store, streamManager, pass } = open();
    await session.begin();
    await store.owners.fold(session.id);
    pass(HOUR / 2);
    const second = drive({ store, streamManager });
    await second.begin();
    await store.owners.fold(second.id);
    pass(HOUR / 2);
    expect(await store.owners.take(9, HOUR)).toEqual([ANN]);
  });

  it('a conversation that another owner has begun under the id counts for that one alone', async () => {
    const { lose, session, store } = open();
    await session.begin();
    await store.owners.fold(session.id);
    lose(session.id);
    await session.begin({ owner: 'bob' });
    await store.owners.repair(ANN);
    expect(await store.owners.usage(ANN)).toMatchObject({ sessions: 0 });
  });

  it('who asks for the conversation of another owner names it not', async () => {
    const { session, store } = open();
    await session.begin();
    await store.owners.fold(session.id, { owner: 'eve' }, 'yours');
    await store.owners.fold(session.id, ANN, 'mine');
    const { conversations } = await store.owners.page(ANN, { limit: 9 });
    expect(conversations.map(({ title }) => title)).toEqual(['mine']);
  });

  it('a conversation has changed when its log has, and when staged changes take effect', async () => {
    const { session, store, pass } = open();
    const changed = async () => (await session.record())?.updatedAt;
    const { writer } = await session.claimed();
    const begun = (await changed()) ?? 0;
    // The session has begun by the clock of this process.
    pass(begun);
    await session.say(writer, 1, 'hello');
    expect(await changed()).toBe(begun + 1_000_000);
    pass(5);
    const patches = [{ op: 'add', path: '/a', value: 1 } as const];
    await store.staging.stage(session.id, 's1', { toolCallId: 'c', patches });
    await store.staging.promote(session.id, 's1');
    expect(await changed()).toBe(begun + 1_000_005);
  });

  it('what a forgotten person has used passes like all sums, and names nobody', async () => {
    const { call, session, store } = open();
    const { writer } = await session.claimed();
    await session.commit(writer, { usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: 7 } });
    await store.owners.fold(session.id);
    await store.usage.forget(ANN);
    const { base, users } = keys.owner(ANN);
    expect(call('HKEYS', `${users}19700101`)).toEqual(['f:']);
    expect(call('PTTL', `${users}19700101`)).toBeGreaterThan(0);
    expect(call('PTTL', `${ownerAt(base, 'f:').used}19700101`)).toBeGreaterThan(0);
  });

  it('what is charged while a person is forgotten stays, and names nobody', async () => {
    const { keyspace, session, store, streamManager } = open();
    await session.end((await session.newRun()).runId, 'completed');
    await store.owners.fold(session.id);
    const other = drive({ store, streamManager });
    await other.end((await other.newRun({ agent: 'helper' })).runId, 'completed');
    const redis = createLocalCommands(keyspace);
    const { writeIf } = createLocalAtomic(keyspace);
    const context = {
      redis,
      keys,
      now: () => 0,
      writeIf: async (...write: Parameters<typeof writeIf>) => {
        await store.owners.fold(other.id);
        return writeIf(...write);
      },
    };
    await createUsage(context as unknown as RedisContext).forget(ANN);
    const sums = await store.usage.read(undefined, { since: '1970-01-01', until: '1970-01-01' });
    const found = sums.map(({ agent, owner, runs }) => [agent, owner, runs]).sort();
    expect(found).toEqual([
      ['helper', undefined, 1],
      ['tester', undefined, 1],
    ]);
  });

  it('a person is not forgotten while the store is away, which only the caller learns', async () => {
    const away = () => Promise.reject(new Error('away'));
    const redis = { hget: away, hgetall: away };
    const usage = createUsage({ redis, keys, now: () => 0 } as unknown as RedisContext);
    await expect(usage.forget(ANN)).rejects.toThrow('away');
    // An unhandled rejection would end the process here.
    await new Promise(setImmediate);
  });

  it('the sums of a tenant are of all its users, and of users without a tenant of them alone', async () => {
    const { store, streamManager, pass } = open();
    const owners = (of: object) =>
      Array.from({ length: 101 }, (_, n) => ({ owner: `u${String(n)}`, ...of }));
    const spendAll = async (all: { owner: string }[]) => {
      for (const owner of all) {
        const session = drive({ store, streamManager });
        await session.end((await session.newRun(owner)).runId, 'completed');
        await store.owners.fold(session.id);
      }
    };
    const days = { since: '1970-01-01', until: '1970-01-02' };
    await spendAll([...owners({ tenant: 'acme' }), ANN]);
    expect(await store.usage.read('acme', days)).toHaveLength(101);
    expect(await store.usage.read(undefined, days)).toMatchObject([ANN]);
    await spendAll(owners({}));
    pass(HOUR);
    const reading = store.usage.read(undefined, days);
    // A sweeper moves the owners that it repairs to the end of the index.
    await store.owners.take(150, HOUR);
    expect(new Set((await reading).map(({ owner }) => owner)).size).toBe(102);
    expect(await reading).toHaveLength(102);
  });

  it('a report of years has the newest days, whose sums are kept', async () => {
    const { session, store, pass } = open();
    pass(900 * 24 * HOUR);
    await session.end((await session.newRun()).runId, 'completed');
    await store.owners.fold(session.id);
    pass(400 * 24 * HOUR - 1);
    const read = async (since: string, until: string): Promise<unknown> =>
      (await store.usage.read(undefined, { since, until })).map(({ day }) => day);
    const day = '1972-06-19';
    expect(await read('1970-01-01', '1999-12-31')).toEqual([day]);
    expect(await read(day, day)).toEqual([day]);
    expect(await read('1970-01-01', '1972-06-18')).toEqual([]);
    expect(await read('1972-06-20', '1999-12-31')).toEqual([]);
  });

  it('a repair corrects what was charged before the store was restored from a backup', async () => {
    const { call, session, store } = open();
    await session.begin();
    const { root } = keys.session(session.id);
    const backup = call('HGETALL', root) as string[];
    await session.enqueue('u2');
    await store.owners.fold(session.id);
    expect(await store.owners.usage(ANN)).toMatchObject({ queued: 1 });
    call('UNLINK', root);
    call('HSET', root, ...backup);
    await store.owners.repair(ANN);
    expect(await store.owners.usage(ANN)).toMatchObject({ queued: 0 });
  });

  it('a rewind that dropped very many rows leaves the size of what it kept', async () => {
    const { call, session, store } = open();
    const sizes = () => {
      const record = call('HGET', keys.session(session.id).root, 'record') as string;
      return (JSON.parse(record) as SessionRecord).sizes;
    };
    const many = (name: string) =>
      Array.from({ length: 310 }, (_, n) => userMessage(`${name}${String(n)}`));
    const { runId } = await session.newRun({ messages: many('kept') });
    await session.ask(runId, 1, [newCall('a', 'server')]);
    await session.carryOut(runId, 1, 'a', 'r'.repeat(100_000));
    await session.ask(runId, 2, []);
    await session.save({ note: 'x' }, 0);
    const { stored } = sizes();
    await session.begin({ messages: many('gone') });
    await session.end((await session.record())?.runId ?? '', 'completed');
    const { checkpoints } = await store.checkpoints.list(session.id);
    await session.rewindTo(checkpoints[0]?.id ?? '');
    await session.enqueue('later');
    await store.owners.fold(session.id);
    await store.owners.repair(ANN);
    const queued = call('HGET', keys.session(session.id).content, 'q:later') as string;
    expect(sizes()).toMatchObject({ stored: stored + queued.length, isComplete: true });
    expect(await session.rows()).toHaveLength(313);
  });
});

it('entries that are trimmed while an audit trail is verified are not missing', async () => {
  const { call, store } = open();
  const { head, chain } = keys.audit('acme');
  for (const by of ['ann', 'bob']) {
    await store.audit.record(toAct('read', { by }, { tenant: 'acme' }), { sessionId: 's1' });
  }
  const [[, fields] = []] = call('XRANGE', chain, '1-0', '1-0') as [string, string[]][];
  // This has read the head when it returns.
  const verifying = store.audit.verify('acme');
  call('HSET', head, 'from', 1, 'fromHash', fields?.[3] ?? '');
  call('XTRIM', chain, 'MINID', '2-0');
  expect(await verifying).toMatchObject({ ok: true, first: 2 });
});
