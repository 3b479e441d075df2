import { equal, includes } from '../assertions.js';
import { userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { conclude, playTurn } from './played-turns.js';

export function rewindEditCases({ describe, it }: Suite): void {
  describe('rewind, an edited message', () => {
    it('other messages replace one message, and everything after it is dropped', async ({
      store,
      session,
    }) => {
      await playTurn(session, 'u1');
      await playTurn(session, 'u2');
      await playTurn(session, 'u3');
      const context = { ...userMessage('h2'), hidden: true };
      const messages = [context, userMessage('u2', 'worded otherwise')];
      const result = await session.retry({ messageId: 'u2', messages, nonce: 'edit' });
      includes(result, {
        kind: 'rewound',
        run: { runId: `${session.id}:4-edit`, turn: 2, messageId: 'msg-3' },
      });
      equal(await session.retry({ messageId: 'u2', messages, nonce: 'edit' }), result);
      includes((await store.sessions.rows(session.id, 0)).slice(5), [
        { role: 'assistant', step: 3 },
        { role: 'user', id: 'h2' },
        { role: 'user', id: 'u2', parts: [{ type: 'text', text: 'worded otherwise' }] },
      ]);
      const all = await store.sessions.rows(session.id, 0);
      equal(await store.sessions.rows(session.id, -2), all.slice(-2));
      equal(await store.sessions.rows(session.id, -100), all);
      includes(await session.messages('stream_resync'), [{ reason: 'retry', messageCount: 8 }]);
      equal(await store.sessions.acceptedMessages(session.id, ['u1', 'h2', 'u2', 'u3']), [
        'u1',
        'h2',
        'u2',
      ]);
      includes(await session.begin({ messages: [userMessage('u2')] }), { kind: 'conflict' });
      if (result.kind !== 'rewound') throw new Error(result.kind);
      await conclude(session, result.run, 1);
      includes(await session.newRun('u4'), { turn: 3, messageId: 'msg-5' });
    });

    it('another message replaces the first one, or one of several', async ({ store, session }) => {
      await playTurn(session, 'u1');
      const edited = [userMessage('u1', 'otherwise')];
      const first = await session.retry({ messageId: 'u1', messages: edited });
      if (first.kind !== 'rewound') throw new Error(first.kind);
      includes(await store.sessions.rows(session.id, 0), [{ id: 'u1' }]);
      await conclude(session, first.run, 1);
      const begun = await session.begin({ messages: [userMessage('u2'), userMessage('u3')] });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await conclude(session, begun.run, 1);
      includes(await session.retry({ messageId: 'u3', messages: [userMessage('u3', 'now')] }), {
        run: { turn: 2, messageId: 'msg-4' },
      });
      includes(await store.sessions.read(session.id), { turnStartRow: 2 });
      includes((await store.sessions.rows(session.id, 0)).slice(2), [
        { id: 'u2' },
        { id: 'u3', parts: [{ type: 'text', text: 'now' }] },
      ]);
    });

    it('a reply cannot be replaced, and no message can be stored twice', async ({
      store,
      session,
    }) => {
      const first = await playTurn(session, 'u1');
      await playTurn(session, 'u2');
      const before = await store.sessions.view(session.id);
      const messages = [userMessage('u2', 'otherwise')];
      equal(await session.retry({ messageId: first.messageId, messages }), {
        kind: 'message_not_found',
      });
      equal(await session.retry({ messageId: 'u9', messages }), { kind: 'message_not_found' });
      equal(
        await session.retry({ messageId: 'u2', messages: [userMessage('u1', 'x'), ...messages] }),
        { kind: 'conflict', messageId: 'u1' },
      );
      equal(await store.sessions.view(session.id), before);
    });
  });
}
