import { equal, includes } from '../assertions.js';
import { eventually } from '../eventually.js';
import { newCall } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';

const FAR_AHEAD_MS = 1_000_000_000;

/** Settles a call as expired as soon as the store says that it is. */
async function expireInTime(session: SessionDriver, runId: string, id: string): Promise<unknown> {
  return eventually('the deadline passes', async () => {
    // The caller's clock stands still: it does not matter.
    const result = await session.expire(runId, id, 1);
    return result.kind !== 'not_due' && result;
  });
}

export function expiryCases({ describe, it }: Suite): void {
  describe('settle call, a deadline', () => {
    it("passes by the store's clock, whatever the caller's says", async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client', { deadlineMs: 60_000 })]);
      const ahead = Date.now() + FAR_AHEAD_MS;
      equal(await session.expire(runId, 'c', ahead), { kind: 'not_due' });
      includes(await session.answer(runId, 'c', { output: 'in time' }), { kind: 'stored' });
    });

    it('settles a call that nobody has answered, and resumes', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client', { deadlineMs: 1 })]);
      includes(await expireInTime(session, runId, 'c'), {
        kind: 'stored',
        resume: { step: 1, approved: [] },
      });
      includes(await store.readCall(session.id, 'c'), {
        row: { errorCode: 'client_tool_timeout' },
      });
      includes(await store.readRecord(session.id), { stream: 'active' });
      equal(await session.expire(runId, 'c'), { kind: 'already_completed' });
    });

    it('counts from the pause, not from the commit', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [
        newCall('s', 'server'),
        newCall('c', 'client', { deadlineMs: 1 }),
      ]);
      equal((await store.readCall(session.id, 'c'))?.deadline, undefined);
      equal(await session.expire(runId, 'c'), { kind: 'not_due' });
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      includes(await expireInTime(session, runId, 'c'), { kind: 'stored' });
    });

    it('does not touch a call without one, nor one that was answered', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [
        newCall('c', 'client'),
        newCall('d', 'client', { deadlineMs: 1 }),
      ]);
      equal(await session.expire(runId, 'c', Date.now() + FAR_AHEAD_MS), { kind: 'not_due' });
      await session.answer(runId, 'd', { output: 1 });
      equal(await session.expire(runId, 'd'), { kind: 'already_completed' });
    });

    it('refuses a late approval, but not the kind mismatch or the second answer', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [
        newCall('a', 'approval', { deadlineMs: 1 }),
        newCall('b', 'approval', { deadlineMs: 60_000 }),
        newCall('c', 'client', { deadlineMs: 1 }),
      ]);
      // Clocks of callers matter to neither.
      await session.decide(runId, 'b', true, Date.now() + FAR_AHEAD_MS);
      const late = await eventually('the deadline passes', async () => {
        const result = await session.expire(runId, 'c', 1);
        return result.kind === 'stored' && session.decide(runId, 'a', true, 1);
      });
      equal(late, { kind: 'expired' });
      equal(await session.decide(runId, 'b', true), { kind: 'already_completed' });
      equal(await session.decide(runId, 'c', true), { kind: 'already_completed' });
      includes(await expireInTime(session, runId, 'a'), { resume: { approved: ['b'] } });
    });

    it("takes a client's late result until the model was told of the timeout", async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client', { deadlineMs: 1 })]);
      await expireInTime(session, runId, 'c');
      includes(await session.answer(runId, 'c', { output: 'late' }), { kind: 'stored' });
      const already = { kind: 'already_completed' };
      equal(await session.answer(runId, 'c', { output: 'later' }), already);
      await session.claim(session.writer(runId, 2, 1));
      equal(await session.answer(runId, 'c', { output: 'too late' }), already);
      includes(await store.readRows(session.id, 2), [{ toolCallId: 'c', output: 'late' }]);
      equal((await session.messages('run_resumed')).length, 1);
    });
  });
}
