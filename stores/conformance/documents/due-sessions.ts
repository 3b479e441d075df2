import { ok } from 'node:assert/strict';
import { equal } from '../assertions.js';
import type { Due, DueSession } from '../../contract/due.js';
import { DUE_SHARDS, dueShardOf } from '../../record/due-shards.js';
import { eventually } from '../eventually.js';
import type { Case, Suite } from '../suite.js';

const OVERDUE_MS = -1_000;

/** A list of the case's own. */
const listOf = ({ store, streamId }: Pick<Case, 'store' | 'streamId'>): Due =>
  store.due.of(`fleet/${streamId}`);

/** Ids of one shard, in the order of their names. */
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
    it('come oldest first, and not again before their time', async (given) => {
      const due = listOf(given);
      const [a = '', b = '', c = ''] = siblings(3);
      await due.note(b, OVERDUE_MS);
      await due.note(a, OVERDUE_MS - 1_000);
      await due.note(c, 60_000);
      equal(idsOf(await take(due, a)), [a, b]);
      equal(await take(due, a), []);
    });

    it('come at most so many at once of each list', async (given) => {
      const due = listOf(given);
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

    it('are of one fleet, and of one shard', async (given) => {
      const due = listOf(given);
      const [id = ''] = siblings(1);
      await due.note(id, OVERDUE_MS);
      equal(await take(due.of('another fleet'), id), []);
      equal(await due.take((dueShardOf(id) + 1) % DUE_SHARDS, MANY, 60_000), []);
      equal(idsOf(await take(due, id)), [id]);
    });

    it('are put elsewhere unless they were noted since they were taken', async (given) => {
      const due = listOf(given);
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

    it('are swept shard by shard, by one holder at a time', async (given) => {
      const due = listOf(given);
      const other = listOf({ ...given, store: (await given.another()).store });
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

    it('remember when closed workflows were asked for', async (given) => {
      const due = listOf(given);
      equal(await due.closedAt(), 0);
      await due.noteClosed(1_234);
      equal(await due.closedAt(), 1_234);
    });
  });

  describe('noteActiveSnapshot', () => {
    it('remembers the turn of a snapshot until the next one begins', async ({ store, session }) => {
      await session.newRun();
      await store.sessions.noteActiveSnapshot(session.id, 1);
      equal((await store.sessions.read(session.id))?.activeSnapshotTurn, 1);
      await session.stop();
      await session.newRun();
      equal((await store.sessions.read(session.id))?.activeSnapshotTurn, undefined);
    });

    it('forgets it for a later one of the turn at rest, and for that of no other', async ({
      store,
      session,
    }) => {
      const seen = async (): Promise<number | undefined> =>
        (await store.sessions.read(session.id))?.activeSnapshotTurn;
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
