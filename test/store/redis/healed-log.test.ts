import { followLog, type LogFollower } from '../../../store/conformance/stream/collect.js';
import { AGENT, drive, newCall, textIn, type SessionDriver } from '../../support/session-driver.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const keyOf = (id: string, name: string): string => `hx:{${id}}:${name}`;
const sequenceOf = async (id: string): Promise<number> =>
  Number(await stores.redis.hget(keyOf(id, 'root'), 'seq'));

/** Leaves entries above the sequence, as a change does that dies before storing its own. */
async function leaveEntries(id: string, count: number): Promise<number[]> {
  const above = await sequenceOf(id);
  const left = Array.from({ length: count }, (_, n) => above + n + 1);
  const base = { agentId: id, agentType: AGENT, step: 1, timestamp: 1 };
  const chunk = { type: 'custom', ...base, eventName: 'left', data: [] };
  for (const sequence of left) {
    const fields = ['w', '', 'c', JSON.stringify(chunk)];
    await stores.redis.xadd(keyOf(id, 'stream'), `${String(sequence)}-0`, ...fields);
  }
  return left;
}

/** A session at a given point of its run, with the expected outcome of the next change. */
interface Scene {
  name: string;
  arrange: (session: SessionDriver) => Promise<() => Promise<{ kind: string }>>;
  kind: string;
  /** True if the change itself withdraws the leftover entries. */
  withdraws?: true;
}

/** All commits share one script, and so do all appends, so one scene of each suffices. */
const SCENES: Scene[] = [
  {
    name: 'append',
    kind: 'appended',
    arrange: async (session) => {
      const writer = session.writer((await session.newRun()).runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'before ');
      return () => session.say(writer, 2, 'after');
    },
  },
  {
    name: 'claim, over a lost attempt',
    kind: 'claimed',
    arrange: async (session) => {
      const { runId } = await session.claimed();
      await session.say(session.writer(runId, 1, 1), 1, 'lost');
      return () => session.claim(session.writer(runId, 1, 2));
    },
  },
  {
    name: 'commit that asks',
    kind: 'committed',
    arrange: async (session) => {
      const writer = session.writer((await session.newRun()).runId, 1, 1);
      await session.claim(writer);
      return () => session.commit(writer, { calls: [newCall('a', 'approval')] });
    },
  },
  {
    name: 'begin, after the end',
    kind: 'begun',
    arrange: async (session) => {
      await session.ask((await session.newRun()).runId, 1, []);
      return () => session.begin({ messages: [message('u2')] });
    },
  },
  {
    name: 'rewind',
    kind: 'rewound',
    withdraws: true,
    arrange: async (session) => {
      await session.ask((await session.newRun()).runId, 1, []);
      return () => session.retry();
    },
  },
];

const LEFT = [
  { what: 'entries', count: 3, isRemoved: false },
  { what: 'the ids of removed entries', count: 40, isRemoved: true },
];

const message = (id: string) => ({
  id,
  hash: id,
  row: { role: 'user' as const, id, parts: [{ type: 'text' as const, text: id }] },
  hidden: false,
});

/** Ends the run in any state and lets the next one speak. */
async function goOn(session: SessionDriver): Promise<void> {
  const record = await stores.store.sessions.read(session.id);
  await session.end(record?.runId ?? '', 'interrupted');
  await stores.store.queue.remove({ sessionId: session.id, now: 1 });
  const { runId } = await session.newRun(`next-${String(Math.random())}`);
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'as ever');
  expect(await session.commit(writer)).toMatchObject({ kind: 'committed' });
}

async function expectInOrder(session: SessionDriver, follower: LogFollower): Promise<void> {
  const log = await session.log();
  const sequences = log.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  expect(sequences.at(-1)).toBe(await sequenceOf(session.id));
  await until('the follower has come to the end', () => {
    return follower.entries.at(-1)?.sequence === sequences.at(-1);
  });
  const standing = new Set(sequences);
  const seen = follower.entries.map(({ sequence }) => sequence);
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  expect(follower.entries.filter(({ sequence }) => standing.has(sequence))).toEqual(log);
}

describe('a log with entries above its sequence', () => {
  it.each(SCENES.flatMap((scene) => LEFT.map((left) => ({ ...scene, ...left }))))(
    'the log continues behind $what above its sequence by $name',
    async ({ arrange, kind, withdraws, count, isRemoved }) => {
      const session = drive(stores);
      const act = await arrange(session);
      const before = await sequenceOf(session.id);
      const follower = followLog(stores.streamManager, session.id);
      await until('it follows', () => before === (follower.entries.at(-1)?.sequence ?? 0));
      const left = await leaveEntries(session.id, count);
      const ids = left.map((n) => `${String(n)}-0`);
      if (isRemoved) await stores.redis.xdel(keyOf(session.id, 'stream'), ...ids);
      expect(await act()).toMatchObject({ kind });
      const standing = (await session.log()).map(({ sequence }) => sequence);
      if (!isRemoved && withdraws !== true) expect(standing).toEqual(expect.arrayContaining(left));
      await goOn(session);
      await expectInOrder(session, follower);
      expect(textIn(follower.entries)).toContain('as ever');
      await follower.stop();
    },
  );

  it('a repeated batch gets its first reply', async () => {
    const session = drive(stores);
    const { writer } = await session.claimed();
    await leaveEntries(session.id, 2);
    const first = await session.say(writer, 1, 'once');
    expect(first).toMatchObject({ kind: 'appended', sequence: 3 });
    expect(await session.say(writer, 1, 'once')).toEqual(first);
    expect(textIn(await session.log())).toBe('once');
  });
});
