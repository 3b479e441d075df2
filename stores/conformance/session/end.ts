import { equal, includes } from '../assertions.js';
import { newCall, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function endCases({ describe, it }: Suite): void {
  describe('end', () => {
    it('a run ends once, and later ends return its status', async ({ session }) => {
      const { runId } = await session.newRun();
      equal(await session.end(runId, 'completed'), { kind: 'ended', status: 'completed' });
      equal(await session.end(runId, 'failed'), { kind: 'ended', status: 'completed' });
      includes(await session.messages('stream_end'), [{ status: 'completed' }]);
      await session.newRun();
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
    });

    it('a run ends without its silent writer, which is fenced off; its partial reply is kept', async ({
      store,
      session,
    }) => {
      const { runId, messageId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'half a sen');
      await session.stop({ mode: 'abort', reason: 'no answer' });
      const parts = [{ type: 'text' as const, text: 'half a sen' }];
      const row = { role: 'assistant' as const, messageId, runId, step: 1, parts };
      // The stop record decides the status, not the caller.
      equal(await session.end(runId, 'interrupted', { row: { ...row, interrupted: 'abort' } }), {
        kind: 'ended',
        status: 'aborted',
      });
      equal(await session.say(writer, 2, 'tence'), { kind: 'superseded' });
      equal(await session.commit(writer), { kind: 'superseded' });
      includes(await store.sessions.rows(session.id, 1), [{ parts }]);
      includes(await session.newRun(), { messageId: 'msg-3' });
    });

    it('a turn that failed or was aborted without text counts as a visible message, too', async ({
      store,
      session,
    }) => {
      const failed = await session.newRun('u1');
      await session.end(failed.runId, 'failed', {
        error: { code: 'provider_error', message: 'No.', retryable: false },
      });
      const aborted = await session.newRun('u2');
      await session.stop({ mode: 'abort' });
      includes(await session.begin({ messages: [userMessage('u3')] }), {
        run: { messageId: 'msg-5' },
      });
      includes(await store.sessions.rows(session.id, 0), [
        { id: 'u1' },
        { role: 'assistant', messageId: 'msg-1', runId: failed.runId, display: true, parts: [] },
        { id: 'u2' },
        { role: 'assistant', messageId: 'msg-3', runId: aborted.runId, display: true, parts: [] },
        { id: 'u3' },
      ]);
    });

    it('the end of a failed run settles calls as failed and keeps the error', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's');
      const error = { code: 'framework_run_lost', message: 'Lost.', retryable: true };
      await session.end(runId, 'failed', { error });
      includes(await session.messages('tool_end'), [
        { errorCode: 'tool_outcome_unknown' },
        { errorCode: 'run_failed' },
      ]);
      includes(await session.messages('error'), [
        { error: 'Lost.', code: 'framework_run_lost', recoverable: false },
      ]);
      includes(await store.sessions.read(session.id), { stream: 'failed', error });
    });

    it('an aborted run keeps the error that viewers get', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.stop({ mode: 'abort', reason: 'no answer' });
      const [error] = await session.messages('error');
      const expected = { code: 'framework_cancelled', message: 'The run was aborted.' };
      includes(error, { error: expected.message, code: expected.code, recoverable: false });
      includes(await store.sessions.read(session.id), { status: 'aborted', error: expected });
      includes(await store.runs.list(session.id), [{ runId, error: expected }]);
      await session.newRun();
      equal((await store.sessions.read(session.id))?.error, undefined);
    });

    it('entries are numbered above what the run has seen', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'failed', { floor: 500 });
      equal(
        (await session.log()).every(({ sequence }) => sequence > 500),
        true,
      );
      const { startSequence } = await session.newRun();
      equal((await store.sessions.read(session.id))?.sequence, startSequence);
      equal(startSequence > 500, true);
    });
  });
}
