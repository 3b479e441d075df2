import { equal, includes } from '../assertions.js';
import { newCall, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function abandonmentCases({ describe, it }: Suite): void {
  describe('a message while a person is asked', () => {
    it('abandons open calls: each gets one row, before the new message', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('b', 'approval')]);
      await session.decide(runId, 'a', false);
      includes(await session.begin({ messages: [userMessage('u2')] }), {
        kind: 'begun',
        run: { turn: 2, messageId: 'msg-3', supersededRunId: runId },
      });
      includes(await store.sessions.rows(session.id, 0), [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', toolCallId: 'a', denied: true },
        { role: 'tool', toolCallId: 'b', errorCode: 'client_tool_abandoned' },
        { role: 'user' },
      ]);
      includes(await session.messages('stream_end'), [{ status: 'interrupted' }]);
      equal(await session.decide(runId, 'b', true), { kind: 'already_completed' });
    });

    it('an approved call is not executed if the others are abandoned', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('b', 'approval')]);
      await session.decide(runId, 'a', true);
      await session.begin({ messages: [userMessage('u2')] });
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 'a', errorCode: 'client_tool_abandoned', decision: { approved: true } },
        { toolCallId: 'b', errorCode: 'client_tool_abandoned' },
        { role: 'user', id: 'u2' },
      ]);
      equal(await session.start(runId, 1, 'a'), { kind: 'settled' });
    });

    it('a result that a client already gave is kept', async ({ store, session }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      await session.answer(runId, 'c', { output: { lat: 1 } });
      await session.begin({ messages: [userMessage('u2')] });
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 'c', output: { lat: 1 } },
        { toolCallId: 'd', errorCode: 'client_tool_abandoned' },
        { role: 'user', id: 'u2' },
      ]);
    });

    it('a message is refused while a tool of the same step is running', async ({ session }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('s', 'server')]);
      equal(await session.begin({ messages: [userMessage('u2')] }), { kind: 'busy' });
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      includes(await session.begin({ messages: [userMessage('u2')] }), { kind: 'begun' });
    });

    it('a message is refused once the batch is answered, because the run continues', async ({
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', true);
      equal(await session.begin({ messages: [userMessage('u2')] }), { kind: 'busy' });
    });

    it('the abandoned run can write nothing more', async ({ session }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.newRun('u2');
      const old = session.writer(runId, 2, 99);
      equal(await session.claim(old), { kind: 'superseded' });
      equal(await session.say(old, 1, 'x'), { kind: 'superseded' });
      equal(await session.commit(old), { kind: 'superseded' });
      equal(await session.start(runId, 1, 'new'), { kind: 'superseded' });
    });
  });
}
