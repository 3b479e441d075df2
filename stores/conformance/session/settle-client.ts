import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';

export function settleClientCases({ describe, it }: Suite): void {
  describe('settle call, a client', () => {
    it('a result and an error are stored, and the last answer resumes the run', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      equal('resume' in (await session.answer(runId, 'c', { output: 7 })), false);
      includes(await session.answer(runId, 'd', { error: 'no camera' }), {
        kind: 'stored',
        resume: { step: 1, approved: [] },
      });
      includes(await session.claim(session.writer(runId, 2, 1)), { rowCount: 4 });
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 'c', output: 7 },
        { toolCallId: 'd', error: 'no camera' },
      ]);
    });

    it('the first of many results wins', async ({ store, session, another }) => {
      const other = drive(await another(), session.id);
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? session : other).answer(runId, 'c', { output: n }),
        ),
      );
      const winner = results.findIndex(({ kind }) => kind === 'stored');
      equal(results.map(({ kind }) => kind).sort(), [
        ...Array<string>(9).fill('already_completed'),
        'stored',
      ]);
      includes(await store.calls.read(session.id, 'c'), { row: { output: winner } });
    });

    it('a client cannot give the result of an approval, but can cancel it with an error', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      equal(await session.answer(runId, 'a', { output: 'forged' }), { kind: 'kind_mismatch' });
      includes(await session.answer(runId, 'a', { error: 'gone' }), { kind: 'stored' });
      equal(await session.start(runId, 1, 'a'), { kind: 'settled' });
    });

    it('a client cannot cancel a decided approval', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('b', 'approval')]);
      await session.decide(runId, 'a', true);
      equal(await session.answer(runId, 'a', { error: 'gone' }), { kind: 'already_completed' });
      includes(await session.decide(runId, 'b', false), { resume: { approved: ['a'] } });
    });

    it('a client cannot give the result of a server tool or of another run', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('c', 'client')]);
      equal(await session.answer(runId, 's', { output: 'forged' }), { kind: 'kind_mismatch' });
      const stale = { kind: 'stale_run' };
      equal(await session.answer(`${session.id}:9-x`, 'c', { output: 1 }), stale);
    });

    it('a client may answer while a sibling is running', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('c', 'client')]);
      includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
      equal(await session.messages('run_paused'), []);
    });
  });
}
