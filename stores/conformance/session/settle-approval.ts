import { equal, eventually, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';

export function settleApprovalCases({ describe, it }: Suite): void {
  describe('settle call, an approval', () => {
    it('the first of many decisions wins', async ({ session, another }) => {
      const other = drive(await another(), session.id);
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? session : other).decide(runId, 'a', n % 3 === 0),
        ),
      );
      equal(results.map(({ kind }) => kind).sort(), [
        ...Array<string>(11).fill('already_completed'),
        'stored',
      ]);
      equal((await session.messages('run_resumed')).length, 1);
    });

    it('only the last answer of a batch resumes the run, with all approved calls', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(
        runId,
        1,
        ['a', 'b', 'c'].map((id) => newCall(id, 'approval')),
      );
      equal('resume' in (await session.decide(runId, 'a', true)), false);
      equal('resume' in (await session.decide(runId, 'b', false)), false);
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      const resume = { step: 1, approved: ['a', 'c'] };
      includes(await session.decide(runId, 'c', true), { kind: 'stored', resume });
      includes(await store.sessions.read(session.id), {
        status: 'running',
        stream: 'active',
        resume,
      });
    });

    it('a batch of denials resumes the run with nothing to execute', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      includes(await session.decide(runId, 'a', false), { resume: { step: 1, approved: [] } });
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
    });

    it('an answer while siblings are running causes no pause', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's');
      includes(await session.decide(runId, 'a', true), { resume: { approved: ['a'] } });
      await session.finishCall(runId, 1, 's', 1);
      includes(await store.sessions.read(session.id), { stream: 'active' });
      equal(await session.messages('run_paused'), []);
      equal(await session.messages('run_resumed'), []);
    });

    it('a call that demands an approver takes an answer only with the mark of a permission', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const guarded = { approvers: { roles: ['approver' as const], separate: true } };
      await session.ask(runId, 1, [newCall('a', 'approval', guarded), newCall('b', 'approval')]);
      const unchecked = { permitted: false };
      const refused = { kind: 'not_allowed' };
      equal(await session.decide(runId, 'a', true, unchecked), refused);
      equal(await session.decide(runId, 'a', false, unchecked), refused);
      equal(await session.answer(runId, 'a', { error: 'cancelled' }, unchecked), refused);
      const [call] = (await store.sessions.view(session.id))?.openCalls ?? [];
      includes(call, { state: 'waiting' });
      equal(call?.spec.approvers, guarded.approvers);
      includes(await session.decide(runId, 'b', true), { kind: 'stored' });
      includes(await session.decide(runId, 'a', true, { permitted: true }), { kind: 'stored' });
      equal(await session.decide(runId, 'a', true), { kind: 'already_completed' });
    });

    it('no answer is taken that was not checked while the call waited', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      const unchecked = { permitted: false };
      const refused = { kind: 'not_pending' };
      equal(await session.decide(runId, 'a', true, unchecked), refused);
      equal(await session.decide(runId, 'a', false, unchecked), refused);
      equal(await session.answer(runId, 'a', { error: 'cancelled' }, unchecked), refused);
      equal(await session.answer(runId, 'c', { output: 1 }, unchecked), refused);
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      includes(await session.decide(runId, 'a', true), { kind: 'stored' });
      includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
    });

    it('a changed input waits in place of the first, for whoever was shown it', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const [input, from] = [{ amount: 9, text: '\u0000é' }, { amount: 5 }];
      await session.ask(runId, 1, [newCall('a', 'approval', { input: from })]);
      const edit = { n: 1, input, by: 'bob', at: 1 };
      includes(await session.decide(runId, 'a', true, { edit }), { kind: 'edited' });
      for (const shown of [{}, { shownEdit: 2 }, { edit }]) {
        equal(await session.decide(runId, 'a', true, shown), { kind: 'not_pending' });
      }
      equal(await session.answer(runId, 'a', { error: 'no' }), { kind: 'not_pending' });
      const read = await store.calls.read(session.id, 'a');
      const view = await store.sessions.view(session.id);
      for (const call of [read, view?.openCalls[0]]) {
        includes(call, { state: 'waiting' });
        equal(call?.spec.input, input);
        equal(call?.spec.edited, { n: 1, by: 'bob', at: 1, from });
      }
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      includes(await session.decide(runId, 'a', true, { shownEdit: 1 }), { kind: 'stored' });
    });

    it('the rule of a tool for a deadline needs no permission', async ({ session }) => {
      const { runId } = await session.newRun();
      const approvers = { separate: true };
      await session.ask(runId, 1, [newCall('a', 'approval', { deadlineMs: 1, approvers })]);
      await eventually('the deadline passes', async () => {
        const { kind } = await session.expireAs(runId, 'a', false);
        return kind === 'stored';
      });
    });

    it('kind and run of the pending record are checked', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [
        newCall('a', 'approval'),
        newCall('c', 'client'),
        newCall('s', 'server'),
      ]);
      equal(await session.decide(runId, 'c', true), { kind: 'kind_mismatch' });
      equal(await session.decide(runId, 's', true), { kind: 'kind_mismatch' });
      equal(await session.decide(`${session.id}:9-x`, 'a', true), { kind: 'stale_run' });
      equal(await session.decide(runId, 'nothing', true), { kind: 'not_pending' });
      includes(await session.decide(runId, 'a', true), { kind: 'stored' });
    });

    it('late duplicates get already_completed, also in later steps and turns', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', true);
      const duplicates = async (): Promise<unknown[]> => [
        await session.decide(runId, 'a', false),
        await session.finishCall(runId, 1, 'a', 'again', 1),
      ];
      const already = { kind: 'already_completed' };
      equal(await session.decide(runId, 'a', true), already);
      await session.start(runId, 1, 'a', 2);
      await session.finishCall(runId, 1, 'a', 'done', 2);
      equal(await duplicates(), [already, already]);
      await session.ask(runId, 2, []);
      equal(await duplicates(), [already, already]);
      await session.newRun();
      equal(await duplicates(), [already, already]);
    });
  });
}
