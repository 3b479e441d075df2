import { equal, refuses } from '../assertions.js';
import { userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import { counts, listed, newOwner, newSession, runOf } from './owner-fixtures.js';

export function ownerConversationCases({ describe, it }: Suite): void {
  describe('conversations of an owner', () => {
    it('conversations are listed with title and status, most recently changed first', async (setup) => {
      const owner = newOwner();
      const first = await newSession(setup, owner, 'the first');
      const second = await newSession(setup, owner, 'the second');
      await first.end(await runOf(setup, first), 'completed', { now: Date.now() + 1_000 });
      await setup.store.owners.fold(first.id);
      const { conversations, cursor } = await setup.store.owners.page(owner, { limit: 50 });
      equal(cursor, undefined);
      equal(
        conversations.map(({ sessionId, title, agent, status }) => [
          sessionId,
          title,
          agent,
          status,
        ]),
        [
          [first.id, 'the first', 'tester', 'completed'],
          [second.id, 'the second', 'tester', 'starting'],
        ],
      );
      const record = await setup.store.sessions.read(first.id);
      equal(conversations[0]?.updatedAt, record?.updatedAt);
    });

    it('a list contains only the owner’s conversations, within one tenant', async (setup) => {
      const { owner } = newOwner();
      const plain = await newSession(setup, { owner });
      const tenants = await newSession(setup, { owner, tenant: 'acme' });
      const nested = await newSession(setup, { owner: `acme:${owner}` });
      equal(await listed(setup, { owner }), [plain.id]);
      equal(await listed(setup, { owner, tenant: 'acme' }), [tenants.id]);
      equal(await listed(setup, { owner: `acme:${owner}` }), [nested.id]);
      equal(await listed(setup, newOwner()), []);
    });

    it('pages leave out no conversation', async (setup) => {
      const owner = newOwner();
      const ids = new Set<string>();
      for (let n = 0; n < 5; n += 1) ids.add((await newSession(setup, owner)).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? {} : { cursor };
        const page = await setup.store.owners.page(owner, { limit: 2, ...at });
        equal(page.conversations.length > 2, false, 'a page has no more than was asked for');
        seen.push(...page.conversations.map(({ sessionId }) => sessionId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal([...seen].sort(), [...ids].sort());
    });

    it('a search finds titles in upper and lower case, page by page', async (setup) => {
      const owner = newOwner();
      const titles = ['Refund of order 7', 'The weather', 'a refund again', 'REFUND?', 'refun'];
      for (const title of titles) await newSession(setup, owner, title);
      const found = async (search: string): Promise<string[]> => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const options = { limit: 2, search, ...(cursor !== undefined && { cursor }) };
          const page = await setup.store.owners.page(owner, options);
          equal(page.conversations.length > 2, false, 'a page has no more than was asked for');
          seen.push(...page.conversations.map(({ title }) => title));
          cursor = page.cursor;
        } while (cursor !== undefined);
        return seen.sort();
      };
      equal(await found('refund'), ['REFUND?', 'Refund of order 7', 'a refund again']);
      equal(await found('weather'), ['The weather']);
      equal(await found('.*'), []);
      equal(await found(''), [...titles].sort());
    });

    it('an erased conversation is neither listed nor counted', async (setup) => {
      const owner = newOwner();
      const [erased, stays] = [await newSession(setup, owner), await newSession(setup, owner)];
      await setup.store.sessions.erase(erased.id);
      equal(await listed(setup, owner), [stays.id]);
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      await setup.store.sessions.erase(stays.id);
      equal(await setup.store.owners.usage(owner), { runs: 0, queued: 0, sessions: 0, bytes: 0 });
    });

    it('a conversation without a title is called by its first message', async (setup) => {
      const owner = newOwner();
      const session = drive(setup);
      await session.begin({
        ...owner,
        messages: [
          {
            ...userMessage('h'),
            hidden: true,
            row: { role: 'user', id: 'h', parts: [], hidden: true },
          },
          userMessage('u1', '  What is\nthe   weather? '),
        ],
      });
      await setup.store.owners.fold(session.id);
      const { conversations } = await setup.store.owners.page(owner, { limit: 1 });
      equal(conversations[0]?.title, 'What is the weather?');
    });

    it('a malformed cursor is refused', async ({ store }) => {
      for (const cursor of ['', 'x', '1', '1.', '-1.s', '1.a b']) {
        await refuses(store.owners.page({ owner: 'a' }, { limit: 1, cursor }), 'validation_error');
      }
    });
  });
}
