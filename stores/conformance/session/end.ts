import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function endCases({ describe, it }: Suite): void {
  describe('end', () => {
    it('ends a run once; later ends tell how it ended', async ({ session }) => {
      const { runId } = await session.newRun();
      equal(await session.end(runId, 'completed'), { kind: 'ended', status: 'completed' });
      equal(await session.end(runId, 'failed'), { kind: 'ended', status: 'completed' });
      includes(await session.messages('stream_end'), [{ status: 'completed' }]);
      await session.newRun();
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
    });

    it('goes over the head of a silent writer, keeps its partial reply and fences it off', async ({
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
      // The stop record says how, whatever the caller thought.
      equal(await session.end(runId, 'interrupted', { row: { ...row, interrupted: 'abort' } }), {
        kind: 'ended',
        status: 'aborted',
      });
      equal(await session.say(writer, 2, 'tence'), { kind: 'superseded' });
      equal(await session.commit(writer), { kind: 'superseded' });
      includes(await store.sessions.rows(session.id, 1), [{ parts }]);
      includes(await session.newRun(), { messageId: 'msg-3' });
    });

    it('that failed settles calls as such and keeps the error', async ({ store, session }) => {
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

    it('of a run that was broken off keeps what viewers are told', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.stop({ mode: 'abort', reason: 'no answer' });
      const [told] = await session.messages('error');
      const error = { code: 'framework_cancelled', message: 'The run was aborted.' };
      includes(told, { error: error.message, code: error.code, recoverable: false });
      includes(await store.sessions.read(session.id), { status: 'aborted', error });
      includes(await store.runs.list(session.id), [{ runId, error }]);
      await session.newRun();
      equal((await store.sessions.read(session.id))?.error, undefined);
    });

    it('numbers what it writes above what the run was told', async ({ store, session }) => {
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
