import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function settleToolCases({ describe, it }: Suite): void {
  describe('settle call, a tool', () => {
    it('only the attempt with permission can store a result', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      equal(await session.finishCall(runId, 1, 's', 'unstarted'), { kind: 'fenced' });
      equal(await session.finishCall(runId, 1, 'a', 'unapproved'), { kind: 'fenced' });
      await session.start(runId, 1, 's', 4);
      equal(await session.finishCall(runId, 1, 's', 'other', 3), { kind: 'fenced' });
      includes(await session.finishCall(runId, 1, 's', 'mine', 4), { kind: 'stored' });
    });

    it('a repeated result gets the first reply and is written once', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 'first');
      includes(await session.finishCall(runId, 1, 's', 'second'), { kind: 'stored' });
      const other = await session.finishCall(runId, 1, 's', 'third', 2);
      equal(other, { kind: 'already_completed' });
      includes(await session.messages('tool_end'), [{ result: 'first' }]);
      includes(await store.calls.read(session.id, 's'), {
        state: 'settled',
        row: { output: 'first' },
      });
    });

    it('a large result is complete in the log and in the transcript', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's');
      const output = { text: 'ü'.repeat(200_000) };
      includes(await session.finishCall(runId, 1, 's', output), { kind: 'stored' });
      const [end] = await session.messages('tool_end');
      equal(end?.result, output);
      equal(end?.resultRef, undefined);
      includes(await store.calls.read(session.id, 's'), { row: { output } });
      await session.claim(session.writer(runId, 2, 1));
      includes(await store.sessions.rows(session.id, 2), [{ toolCallId: 's', output }]);
    });

    it('nothing is created for a session that does not exist', async ({ store, session }) => {
      const lost = session.writer('r', 1, 1);
      equal(await session.decide(`${session.id}:1-x`, 'a', true), { kind: 'not_pending' });
      equal(await session.claim(lost), { kind: 'superseded' });
      equal(await session.say(lost, 1, 'x'), { kind: 'superseded' });
      equal(await session.start('r', 1, 'a'), { kind: 'superseded' });
      equal(await session.commit(lost), { kind: 'superseded' });
      equal(await session.end('r', 'failed'), { kind: 'superseded' });
      equal(await session.stop({ mode: 'abort' }), { kind: 'nothing' });
      await store.sessions.noteActiveSnapshot(session.id, 1);
      equal(await store.sessions.read(session.id), undefined);
      equal(await store.documents.load(session.id), null);
      equal(await session.log(), []);
    });
  });
}
