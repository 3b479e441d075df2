import { ok } from 'node:assert/strict';
import { equal, eventually } from '../assertions.js';
import { type Due, type DueSession, DUE_SHARDS, dueShardOf } from '../../contract/due.js';
import type { Case, Suite } from '../suite.js';

const OVERDUE_MS = -1_000;

/** A list that only this case uses. */
const listOf = ({ store, streamId }: Pick<Case, 'store' | 'streamId'>): Due =>
  store.due.of(`fleet/${streamId}`);

/** Session ids of one shard, ordered by name. */
function siblings(count: number): string[] {
  const ids: string[] = [];
  for (let n = 0; ids.length < count; n += 1) {
    const id = `due-${String(n).padStart(4, '0')}`;
    if (ids.length === 0 || dueShardOf(id) === dueShardOf(ids[0] ?? '')) ids.push(id);
  }
  return ids;
}

const MANY = { urgent: 100, routine: 100 };

async function take(
  due: Due,
  id: string,
  most: { urgent: number; routine: number } = MANY,
): Promise<DueSession[]> {
  return due.take(dueShardOf(id), most, 60_000);
}

const idsOf = (taken: readonly DueSession[]): string[] => taken.map(({ sessionId }) => sessionId);

export function dueSessionCases({ describe, it }: Suite): void {
  describe('sessions that are due', () => {
    it('due sessions come oldest first, and not again before their time', async (setup) => {
      const due = listOf(setup);
      const [a = '', b = '', c = ''] = siblings(3);
      await due.note(b, OVERDUE_MS);
      await due.note(a, OVERDUE_MS - 1_000);
      await due.note(c, 60_000);
      equal(idsOf(await take(due, a)), [a, b]);
      equal(await take(due, a), []);
    });

    it('at most a given number of due sessions is taken from each list', async (setup) => {
      const due = listOf(setup);
      const ids = siblings(6);
      for (const id of ids) await due.note(id, OVERDUE_MS);
      for (const each of await take(due, ids[0] ?? '', { urgent: 3, routine: 0 })) {
        await due.put(each, 'routine', OVERDUE_MS);
      }
      const taken = await take(due, ids[0] ?? '', { urgent: 2, routine: 1 });
      equal(
        taken.map(({ list }) => list),
        ['urgent', 'urgent', 'routine'],
      );
      equal((await take(due, ids[0] ?? '')).length, 3);
    });

    it('a list is read page by page, whether its sessions are due or not', async (setup) => {
      const due = listOf(setup);
      const [a = '', b = '', c = ''] = siblings(3);
      await due.note(b, 60_000);
      await due.note(a, OVERDUE_MS);
      await due.note(c, 90_000);
      const shard = dueShardOf(a);
      equal(await due.listed('urgent', shard, 0, 2), [a, b]);
      equal(await due.listed('urgent', shard, 2, 2), [c]);
      equal(await due.listed('routine', shard, 0, 2), []);
      equal(await due.of('another fleet').listed('urgent', shard, 0, 2), []);
    });

    it('a list holds the sessions of one fleet, and a page those of one shard', async (setup) => {
      const due = listOf(setup);
      const [id = ''] = siblings(1);
      await due.note(id, OVERDUE_MS);
      equal(await take(due.of('another fleet'), id), []);
      equal(await due.take((dueShardOf(id) + 1) % DUE_SHARDS, MANY, 60_000), []);
      equal(idsOf(await take(due, id)), [id]);
    });

    it('a taken session is put elsewhere unless it was noted meanwhile', async (setup) => {
      const due = listOf(setup);
      const [id = ''] = siblings(1);
      await due.note(id, OVERDUE_MS - 1_000);
      const [first] = await take(due, id);
      ok(first);
      await due.note(id, OVERDUE_MS);
      await due.put(first, 'routine', 60_000);
      const [second] = await take(due, id);
      ok(second);
      equal(second.list, 'urgent');
      await due.put(second, 'routine', OVERDUE_MS);
      const [third] = await take(due, id);
      ok(third);
      equal(third.list, 'routine');
      await due.note(id, OVERDUE_MS);
      await due.drop(third);
      const [fourth, ...none] = await take(due, id);
      ok(fourth);
      equal([fourth.list, none], ['urgent', []]);
      await due.drop(fourth);
      await due.put(fourth, 'urgent', OVERDUE_MS);
      equal(await take(due, id), []);
    });

    it('each shard is swept by one holder at a time', async (setup) => {
      const due = listOf(setup);
      const other = listOf({ ...setup, store: (await setup.another()).store });
      const lease = async (shard: number): Promise<boolean[]> =>
        Promise.all(
          Array.from({ length: 6 }, (_, n) =>
            (n % 2 === 0 ? due : other).lease(shard, `holder-${String(n)}`, 300),
          ),
        );
      for (const shard of [0, 1]) {
        equal((await lease(shard)).filter((isMine) => isMine).length, 1);
      }
      await eventually('it runs out', async () => (await lease(0)).includes(true));
      equal(await due.leaseClosed('one', 60_000), true);
      equal(await other.leaseClosed('two', 60_000), false);
    });
  });

  describe('noteActiveSnapshot', () => {
    it('the turn of an active snapshot is remembered until the next turn begins', async (setup) => {
      const { store, session } = setup;
      await session.newRun();
      await store.sessions.noteActiveSnapshot(session.id, 1);
      equal((await session.record())?.activeSnapshotTurn, 1);
      await session.stop();
      await session.newRun();
      equal((await session.record())?.activeSnapshotTurn, undefined);
    });

    it('a later snapshot of the idle turn clears it, one of another turn does not', async (setup) => {
      const { store, session } = setup;
      const seen = async (): Promise<number | undefined> =>
        (await session.record())?.activeSnapshotTurn;
      await session.newRun();
      await store.sessions.noteActiveSnapshot(session.id, 1);
      await store.sessions.noteRestingSnapshot(session.id, 2);
      equal(await seen(), 1);
      await store.sessions.noteRestingSnapshot(session.id, 1);
      equal(await seen(), undefined);
      await store.sessions.noteActiveSnapshot(session.id, 1);
      equal(await seen(), 1);
    });
  });
}
