import { ok } from 'node:assert/strict';
import { equal, eventually, includes } from '../assertions.js';
import { newCall, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function beginLaterCases({ describe, it }: Suite): void {
  describe('begin', () => {
    it('a run that begins later waits, until it is claimed or stopped', async ({
      store,
      session,
    }) => {
      const startAt = Date.now() + 3_600_000;
      const begun = await session.begin({ startAt });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      includes(await store.sessions.read(session.id), { status: 'starting', waitsUntil: startAt });
      equal(await session.begin({ startAt, messages: [userMessage('u2')] }), { kind: 'busy' });
      includes(await session.stop(), { kind: 'ended' });
      includes(await store.sessions.read(session.id), { status: 'interrupted' });
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
      const again = await session.begin({ startAt, messages: [userMessage('u3')] });
      if (again.kind !== 'begun') throw new Error(again.kind);
      await session.claim(session.writer(again.run.runId, 1, 1));
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
    });

    it('a run that begins later has started then: its wait is no time of its work', async ({
      store,
      session,
    }) => {
      const startAt = Date.now() + 100;
      const begun = await session.begin({ startAt });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await eventually('its time is over', () => Date.now() > startAt + 50);
      const before = Date.now();
      await session.claim(session.writer(begun.run.runId, 1, 1));
      const { runStartedAt = 0 } = (await store.sessions.read(session.id)) ?? {};
      // Also not while its agent was paused, or no worker was there.
      ok(runStartedAt >= before);
      await session.end(begun.run.runId, 'completed');
      equal((await store.runs.list(session.id)).at(-1)?.startedAt, runStartedAt);
    });

    it('a run that is stopped before it begins has not worked', async ({ store, session }) => {
      const begun = await session.begin({ startAt: Date.now() + 3_600_000 });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await eventually('time passes', () => Date.now() > begun.run.startedAt + 5);
      await session.stop();
      const run = (await store.runs.list(session.id)).at(-1);
      equal(run?.startedAt, run?.endedAt);
      equal((await store.sessions.read(session.id))?.runStartedAt, run?.endedAt);
    });

    it('a run that begins later abandons nothing that waits for people', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('c1', 'approval')]);
      const later = { startAt: Date.now() + 3_600_000, messages: [userMessage('u2')] };
      equal(await session.begin(later), { kind: 'busy' });
      equal(await session.begin({ ...later, policy: 'queue' }), { kind: 'busy' });
      includes(await store.sessions.read(session.id), { runId, status: 'waiting_approval' });
      // A time that has passed is now.
      includes(await session.begin({ ...later, startAt: 1 }), { kind: 'begun' });
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
    });
  });
}
