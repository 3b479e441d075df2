import { equal, includes, readPages, refuses } from '../assertions.js';
import {
  approval,
  assistantRow,
  newNonce,
  newSessionId,
  server,
  userMessage,
} from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import { NO_COUNTS, type OwnerCounts } from '../../contract/owners.js';
import type { SessionOwner } from '../../contract/waiting.js';

function ownerConversationCases({ describe, it }: Suite): void {
  describe('conversations of an owner', () => {
    it('conversations are listed with title and status, most recently changed first', async (setup) => {
      const owner = newOwner();
      const first = await newSession(setup, owner, 'the first');
      const second = await newSession(setup, owner, 'the second');
      await first.end(await runOf(setup, first), 'completed', { now: Date.now() + 1_000 });
      await setup.store.owners.fold(first.id, owner, 'another title');
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
      const seen = await readPages(async (page) => {
        const { conversations, cursor } = await setup.store.owners.page(owner, page);
        return [conversations.map(({ sessionId }) => sessionId), cursor];
      });
      equal(seen.sort(), [...ids].sort());
    });

    it('a search finds titles in upper and lower case, page by page', async (setup) => {
      const owner = newOwner();
      const titles = ['Refund of order 7', 'The weather', 'a refund again', 'REFUND?', 'refun'];
      for (const title of titles) await newSession(setup, owner, title);
      const found = async (search: string): Promise<string[]> => {
        const seen = await readPages(async (page) => {
          const read = await setup.store.owners.page(owner, { ...page, search });
          return [read.conversations.map(({ title }) => title), read.cursor];
        });
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

export function newOwner(): SessionOwner {
  return { owner: `owner-${newSessionId()}` };
}

export function newMember(): SessionOwner & { tenant: string } {
  return { ...newOwner(), tenant: `tenant-${newSessionId()}` };
}

/** A session with an active run, charged to its owner. */
export async function newSession(
  setup: Case,
  owner: SessionOwner,
  title = '',
): Promise<SessionDriver> {
  const session = drive(setup);
  await session.newRun(owner);
  await setup.store.owners.fold(session.id, owner, title);
  return session;
}

export async function runOf({ store }: Case, { id }: SessionDriver): Promise<string> {
  return (await store.sessions.read(id))?.runId ?? '';
}

async function counts({ store }: Case, owner: SessionOwner): Promise<Omit<OwnerCounts, 'bytes'>> {
  const { runs, queued, sessions } = await store.owners.usage(owner);
  return { runs, queued, sessions };
}

async function listed({ store }: Case, owner: SessionOwner): Promise<string[]> {
  const { conversations } = await store.owners.page(owner, { limit: 50 });
  return conversations.map(({ sessionId }) => sessionId);
}

function ownerUsageCases({ describe, it }: Suite): void {
  describe('what an owner has', () => {
    it('a run counts as active except while people are asked', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const { fold } = setup.store.owners;
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      const runId = await runOf(setup, session);
      await session.ask(runId, 1, [approval('c1')]);
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 0, queued: 0, sessions: 1 });
      await session.decide(runId, 'c1', false);
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      await session.begin({ ...owner, messages: [userMessage('u2')], policy: 'queue' });
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 1, queued: 1, sessions: 1 });
      await session.stop({ mode: 'abort' });
      await session.end(runId, 'aborted');
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 0, queued: 1, sessions: 1 });
    });

    it('repeated and concurrent folds count a session once', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const other = (await setup.another()).store;
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? setup.store : other).owners.fold(session.id),
        ),
      );
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
    });

    it('a conversation that is erased while it is charged counts for nobody', async (setup) => {
      const owner = newOwner();
      const other = (await setup.another()).store;
      const begun = Array.from({ length: 20 }, async () => {
        const session = drive(setup);
        await session.begin(owner);
        await Promise.all([
          setup.store.owners.fold(session.id, owner),
          other.owners.fold(session.id, owner),
          setup.store.sessions.erase(session.id),
        ]);
      });
      await Promise.all(begun);
      equal(await setup.store.owners.usage(owner), { runs: 0, queued: 0, sessions: 0, bytes: 0 });
    });

    it('bytes grow with stored messages, results and entries, and shrink when these are removed', async (setup) => {
      const owner = newOwner();
      const session = drive(setup);
      const bytes = async (): Promise<number> => {
        await setup.store.owners.fold(session.id);
        return (await setup.store.owners.usage(owner)).bytes;
      };
      const near = (value: number, expected: number): void => {
        equal(
          Math.abs(value - expected) < 2_000,
          true,
          `${String(value)} is about ${String(expected)}`,
        );
      };
      const run = await session.newRun({
        ...owner,
        messages: [userMessage('u1', 'ä'.repeat(10_000))],
      });
      near(await bytes(), 20_000);
      const writer = session.writer(run.runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'x'.repeat(30_000));
      near(await bytes(), 50_000);
      const part = { type: 'text', text: 'y'.repeat(5_000) } as const;
      await session.commit(writer, { row: { ...assistantRow(writer, []), parts: [part] } });
      near(await bytes(), 55_000);
      await setup.store.documents.save(session.id, {
        customState: { note: 'z'.repeat(7_000) },
        version: 0,
      });
      near(await bytes(), 62_000);
      await session.save({ note: 1 }, 1);
      near(await bytes(), 55_000);
      await session.retry();
      near(await bytes(), 20_000);
      await session.begin({
        ...owner,
        messages: [{ ...userMessage('u2', 'w'.repeat(9_000)), hash: 'h' }],
        policy: 'queue',
      });
      near(await bytes(), 29_000);
      await setup.store.queue.remove({ sessionId: session.id, now: Date.now() });
      near(await bytes(), 20_000);
    });

    it('copies and large results of calls are counted', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const runId = await runOf(setup, session);
      await session.ask(runId, 1, [server('c1')]);
      await session.carryOut(runId, 1, 'c1', 'r'.repeat(100_000));
      await setup.store.owners.fold(session.id);
      const before = (await setup.store.owners.usage(owner)).bytes;
      equal(before > 100_000, true, 'a result counts');
      const rows = [assistantRow(session.writer(runId, 1, 1), [])];
      const copy = newSessionId();
      const messages: never[] = [];
      const turn = { turn: 1, row: 0, messageId: 'msg-1', step: 1, hasReplied: true };
      const part = { type: 'text', text: 'y'.repeat(50_000) } as const;
      await setup.store.sessions.branch({
        ...owner,
        sessionId: copy,
        agent: 'tester',
        nonce: newNonce(),
        messages,
        turn,
        rows: rows.map((row) => ({ ...row, parts: [part] })),
        visibleMessages: 1,
        now: Date.now(),
      });
      await setup.store.owners.fold(copy);
      const copied = (await setup.store.owners.usage(owner)).bytes - before;
      equal(copied > 50_000 && copied < 52_000, true, String(copied));
    });

    it('who asks for a session of another owner is not charged, and names it not', async (setup) => {
      const [owner, stranger] = [newOwner(), newOwner()];
      const session = await newSession(setup, owner, 'mine');
      includes(await session.begin({ ...stranger, nonce: newNonce() }), { kind: 'foreign' });
      await setup.store.owners.fold(session.id, stranger, 'yours');
      equal(await counts(setup, stranger), { runs: 0, queued: 0, sessions: 0 });
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      equal(await listed(setup, stranger), []);
    });

    it('the figures of a user stand beside those of the tenant and of one session', async (setup) => {
      const one = newMember();
      const two = { ...newOwner(), tenant: one.tenant };
      const [session] = [await newSession(setup, one), await newSession(setup, one)];
      await newSession(setup, two);
      const { owners } = (await setup.another()).store;
      const counts = await owners.counts(one, session.id);
      includes(counts, {
        user: { runs: 2, sessions: 2 },
        tenant: { runs: 3, sessions: 3 },
        session: { runs: 1, queued: 0, sessions: 1 },
      });
      equal((await owners.counts(two, session.id)).session, NO_COUNTS);
      // Users without a tenant are counted alone.
      equal((await owners.counts({ owner: two.owner }, session.id)).tenant, NO_COUNTS);
    });

    for (const how of ['refresh', 'repair'] as const) {
      it(`ended runs whose folds were lost no longer count after a ${how}`, async (setup) => {
        const owner = newOwner();
        const session = await newSession(setup, owner);
        await session.end(await runOf(setup, session), 'completed');
        equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
        await setup.store.owners[how](owner);
        equal(await counts(setup, owner), { runs: 0, queued: 0, sessions: 1 });
      });
    }
  });
}

export function ownerCases(suite: Suite): void {
  ownerConversationCases(suite);
  ownerUsageCases(suite);
}
