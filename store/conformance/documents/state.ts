import { ok } from 'node:assert/strict';
import { StaleStateError } from '../../../protocol/errors.js';
import { equal, includes, refuses } from '../assertions.js';
import { approval, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function stateCases({ describe, it }: Suite): void {
  describe('load and save', () => {
    it('loading returns everything about a session, or null', async ({ session }) => {
      equal(await session.load(), null);
      const { runId } = await session.asked(approval('a'));
      const state = await session.load();
      includes(state, {
        sessionId: session.id,
        agent: 'tester',
        runId,
        status: 'waiting_approval',
        customState: {},
        version: 0,
        messages: [{ role: 'user' }, { role: 'assistant' }],
        pendingClientToolCalls: { a: { kind: 'approval', runId } },
        suspensionContext: { kind: 'suspended_client_tool', toolCallIds: ['a'] },
      });
      equal(state?.interruptContext, undefined);
      await session.stop({ reason: 'why', by: 'ann' });
      includes((await session.load())?.interruptContext, {
        runId,
        mode: 'interrupt',
        reason: 'why',
        by: 'ann',
      });
    });

    it('a state is saved only over the version that was loaded', async ({ session }) => {
      await session.newRun();
      equal(await session.save({ a: 1 }, 0), {
        version: 1,
      });
      const error = await refuses(session.save({ a: 2 }, 0), 'stale_state');
      ok(error instanceof StaleStateError);
      includes(await session.load(), { customState: { a: 1 }, version: 1 });
      await refuses(session.save({}, 2), 'stale_state');
      equal(await session.save({ b: [] }, 1), {
        version: 2,
      });
      includes(await session.load(), { customState: { b: [] }, version: 2 });
    });

    it('of many concurrent savers of a version one wins', async ({ store, session, another }) => {
      const other = (await another()).store;
      await session.newRun();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? store : other).documents.save(session.id, {
            customState: { n },
            version: 0,
          }),
        ),
      );
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      includes(await session.load(), { customState: { n: winner }, version: 1 });
    });

    it('saving to a session that does not exist is refused', async ({ session }) => {
      await refuses(session.save({}, 0), 'not_found');
      equal(await session.load(), null);
    });
  });

  describe('messages', () => {
    it('messages are returned page by page', async ({ store, session }) => {
      const messages = Array.from({ length: 7 }, (_, n) => userMessage(`u${String(n)}`));
      await session.begin({ messages });
      const idsOf = async (page?: { offset?: number; limit?: number }) => {
        const { messages: rows, total, hasMore } = await store.documents.messages(session.id, page);
        return [rows.map((row) => (row.role === 'user' ? row.id : '')).join(' '), total, hasMore];
      };
      equal(await idsOf(), ['u0 u1 u2 u3 u4 u5 u6', 7, false]);
      equal(await idsOf({ limit: 3 }), ['u0 u1 u2', 7, true]);
      equal(await idsOf({ offset: 3, limit: 3 }), ['u3 u4 u5', 7, true]);
      equal(await idsOf({ offset: 6, limit: 3 }), ['u6', 7, false]);
      equal(await idsOf({ offset: 4, limit: 3 }), ['u4 u5 u6', 7, false]);
      equal(await idsOf({ offset: 9 }), ['', 7, false]);
    });

    it('a page has 50 messages by default, and an unknown session has none', async (setup) => {
      const { store, session } = setup;
      equal(await store.documents.messages(session.id), { messages: [], total: 0, hasMore: false });
      const messages = Array.from({ length: 60 }, (_, n) => userMessage(`u${String(n)}`));
      await session.begin({ messages });
      const page = await store.documents.messages(session.id);
      equal([page.messages.length, page.total, page.hasMore], [50, 60, true]);
    });
  });
}
