import { ok } from 'node:assert/strict';
import { equal } from '../assertions.js';
import type { DueSession } from '../../contract/due.js';
import { eventually } from '../eventually.js';
import type { Case, Suite } from '../suite.js';

/** Long overdue, so that these sessions come before those of other cases. */
const OVERDUE_MS = -1_000_000_000;

/** Which of these are due; they are not due again for a minute. */
async function due({ store }: Case, ids: readonly string[]): Promise<string[]> {
  const taken = await store.due.take(1_000, 60_000);
  return taken.map(({ sessionId }) => sessionId).filter((id) => ids.includes(id));
}

export function dueSessionCases({ describe, it }: Suite): void {
  describe('sessions that are due', () => {
    it('are given oldest first, and not again for a while', async (given) => {
      const { store, streamId } = given;
      const [a, b, c] = ['a', 'b', 'c'].map((name) => streamId + name) as [string, string, string];
      await store.due.note(b, OVERDUE_MS + 1_000);
      await store.due.note(a, OVERDUE_MS);
      await store.due.note(c, 60_000);
      equal(await due(given, [a, b, c]), [a, b]);
      equal(await due(given, [a, b, c]), []);
      for (const id of [a, b, c]) await store.due.forget(id);
    });

    it('come at most so many at once', async (given) => {
      const { store, streamId } = given;
      const ids = ['a', 'b', 'c'].map((name) => streamId + name);
      for (const id of ids) await store.due.note(id, 10 * OVERDUE_MS);
      equal((await store.due.take(2, 60_000)).length, 2);
      for (const id of ids) await store.due.forget(id);
    });

    it('are put off unless they were noted since they were taken', async ({ store, streamId }) => {
      const take = async (forMs: number): Promise<DueSession | undefined> =>
        (await store.due.take(1_000, forMs)).find(({ sessionId }) => sessionId === streamId);
      await store.due.note(streamId, 2 * OVERDUE_MS);
      const first = await take(60_000);
      ok(first);
      await store.due.note(streamId, OVERDUE_MS);
      await store.due.postpone(first, 60_000);
      const second = await take(60_000);
      ok(second);
      await store.due.postpone(second, OVERDUE_MS);
      const third = await take(60_000);
      ok(third);
      await store.due.forget(streamId);
      await store.due.postpone(third, OVERDUE_MS);
      equal(await take(60_000), undefined);
    });

    it('are forgotten when they are told off', async (given) => {
      const { store, streamId } = given;
      await store.due.note(streamId, OVERDUE_MS);
      await store.due.forget(streamId);
      await store.due.forget(streamId);
      equal(await due(given, [streamId]), []);
    });

    it('are swept by one holder at a time', async ({ store, streamId, another }) => {
      const other = (await another()).store;
      const lease = async (): Promise<boolean[]> =>
        Promise.all(
          Array.from({ length: 6 }, (_, n) =>
            (n % 2 === 0 ? store : other).due.leaseSweep(`${streamId}${String(n)}`, 300),
          ),
        );
      const held = await eventually('the lease is free', async () => {
        const taken = await lease();
        return taken.includes(true) && taken;
      });
      equal(held.filter((isMine) => isMine).length, 1);
      await eventually('it runs out', async () => (await lease()).includes(true));
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
