import { equal, includes } from '../assertions.js';
import { assistantRow, newCall, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function steerCases({ describe, it }: Suite): void {
  describe('steer', () => {
    it('a steering message enters the next step as its own turn, after the results of the step before', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [newCall('s', 'server')]);
      includes(await session.steer('u2'), { kind: 'steered', runId });
      await session.steer('u3');
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 'done');
      const before = (await session.log()).at(-1)?.sequence;

      const writer = session.writer(runId, 2, 2);
      includes(await session.claim(writer), { rowCount: 5, messageId: 'msg-4' });
      includes(await store.sessions.rows(session.id, 1), [
        { role: 'assistant', step: 1 },
        { role: 'tool', toolCallId: 's' },
        { role: 'user', id: 'u2' },
        { role: 'user', id: 'u3' },
      ]);
      includes(await store.sessions.read(session.id), {
        runId,
        turn: 2,
        messageId: 'msg-4',
        turnStartRow: 3,
        turnStartSequence: before,
        committedStep: 1,
        queued: 0,
      });
      includes((await session.log()).at(-1)?.message, {
        type: 'turn_started',
        step: 2,
        runId,
        messageId: 'msg-4',
        messageIds: ['u2', 'u3'],
        reason: 'steer',
      });
      await session.commit(writer);
      includes(await session.newRun('u4'), { messageId: 'msg-6', turn: 3 });
    });

    it('a steering message waits until the current reply has begun', async ({ store, session }) => {
      const { runId } = await session.newRun('u1');
      await session.steer('u2');
      const writer = session.writer(runId, 1, 1);
      includes(await session.claim(writer), { rowCount: 1, messageId: 'msg-1' });
      includes(await store.sessions.read(session.id), { queued: 1, turn: 1 });
    });

    it('a steering message gives a run that would end another step', async ({ store, session }) => {
      const { runId } = await session.newRun('u1');
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.steer('u2');
      includes(await session.commit(writer), { kind: 'steered' });
      includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
      equal(await session.messages('stream_end'), []);
      // A repeated commit returns the same decision.
      equal(await session.commit(writer), {
        kind: 'done',
        outcome: { kind: 'calls', step: 1, calls: [] },
      });
      const next = session.writer(runId, 2, 2);
      includes(await session.claim(next), { kind: 'claimed', messageId: 'msg-3', rowCount: 3 });
      includes(await session.commit(next), { kind: 'committed' });
      equal(await store.queue.read(session.id), []);
    });

    it('steering messages of a run that fails or is stopped are queued before others', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.enqueue('u2');
      await session.steer('u3');
      await session.steer('u4');
      includes(await store.queue.read(session.id), [
        { id: 'u3', mode: 'steer' },
        { id: 'u4', mode: 'steer' },
        { id: 'u2', mode: 'queue' },
      ]);
      await session.commit(writer, {
        final: {
          status: 'failed',
          error: { code: 'provider_error', message: 'No.', retryable: false },
        },
      });
      includes(await store.queue.read(session.id), [
        { id: 'u3', mode: 'queue' },
        { id: 'u4', mode: 'queue' },
        { id: 'u2', mode: 'queue' },
      ]);
      // They steer no later run: each gets its own turn.
      const begun = await session.beginNext();
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      const second = session.writer(begun.run.runId, 1, 9);
      await session.claim(second);
      includes(await session.commit(second), { kind: 'committed', next: true });
    });

    it('a steering message is queued after an interrupting one', async ({ store, session }) => {
      const { runId } = await session.newRun('u1');
      await session.claim(session.writer(runId, 1, 1));
      await session.steer('u2');
      await session.begin({ messages: [userMessage('u3')], policy: 'interrupt' });
      await session.end(runId, 'interrupted');
      includes(await store.queue.read(session.id), [
        { id: 'u3', mode: 'interrupt' },
        { id: 'u2', mode: 'queue' },
      ]);
    });

    it('a later attempt of the same step does not take in a steering message', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun('u1');
      await session.ask(runId, 1, [
        newCall('c', 'server', {
          row: { role: 'tool', toolCallId: 'c', toolName: 't', error: 'x' },
        }),
      ]);
      const first = session.writer(runId, 2, 2);
      await session.claim(first);
      await session.say(first, 1, 'half');
      await session.steer('u2');
      const again = session.writer(runId, 2, 3);
      includes(await session.claim(again), { messageId: 'msg-1' });
      includes(await session.commit(again, { row: assistantRow(again, []) }), { kind: 'steered' });
      includes(await store.sessions.read(session.id), { queued: 1 });
    });

    it('a steering message starts a run if none is active', async ({ session }) => {
      includes(await session.steer('u1'), { kind: 'begun' });
    });
  });
}
