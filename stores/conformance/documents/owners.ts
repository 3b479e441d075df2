import type { OwnerCounts, ReserveInput, ReserveResult } from '../../contract/owners.js';
import type { SessionOwner } from '../../contract/waiting.js';
import { equal, includes, refuses } from '../assertions.js';
import { eventually } from '../eventually.js';
import { assistantRow, newCall, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';

/** A user whom no other case knows. */
function newOwner(): SessionOwner {
  return { owner: `owner-${newSessionId()}` };
}

/** A user of a tenant whom no other case knows. */
function newMember(): SessionOwner & { tenant: string } {
  return { ...newOwner(), tenant: `tenant-${newSessionId()}` };
}

const MANY: OwnerCounts = { runs: 1_000, queued: 1_000, sessions: 1_000, bytes: 1_000_000_000 };

function limits(user: Partial<OwnerCounts>, tenant: Partial<OwnerCounts> = {}) {
  return { user: { ...MANY, ...user }, tenant: { ...MANY, ...tenant } };
}

function reserve(
  { store }: Case,
  owner: SessionOwner,
  input: Partial<ReserveInput> = {},
): Promise<ReserveResult> {
  return store.owners.reserve({
    ...owner,
    sessionId: newSessionId(),
    purpose: 'run',
    bytes: 0,
    ...input,
  });
}

/** A session with an active run, as it stands after a reservation. */
async function newSession(given: Case, owner: SessionOwner, title = ''): Promise<SessionDriver> {
  const session = drive(given);
  await reserve(given, owner, { sessionId: session.id, title });
  const begun = await session.begin(owner);
  if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
  await given.store.owners.fold(session.id, owner);
  return session;
}

async function runOf({ store }: Case, { id }: SessionDriver): Promise<string> {
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

export function ownerCases({ describe, it }: Suite): void {
  describe('conversations of an owner', () => {
    it('are listed with what they are called and how they stand, the newest change first', async (given) => {
      const owner = newOwner();
      const first = await newSession(given, owner, 'the first');
      const second = await newSession(given, owner, 'the second');
      await first.end(await runOf(given, first), 'completed', { now: Date.now() + 1_000 });
      await given.store.owners.fold(first.id);
      const { conversations, cursor } = await given.store.owners.page(owner, { limit: 50 });
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
      const record = await given.store.sessions.read(first.id);
      equal(conversations[0]?.updatedAt, record?.updatedAt);
    });

    it('are nobody else’s, and of one tenant only', async (given) => {
      const { owner } = newOwner();
      const plain = await newSession(given, { owner });
      const tenants = await newSession(given, { owner, tenant: 'acme' });
      const nested = await newSession(given, { owner: `acme:${owner}` });
      equal(await listed(given, { owner }), [plain.id]);
      equal(await listed(given, { owner, tenant: 'acme' }), [tenants.id]);
      equal(await listed(given, { owner: `acme:${owner}` }), [nested.id]);
      equal(await listed(given, newOwner()), []);
    });

    it('come in pages that leave none out', async (given) => {
      const owner = newOwner();
      const ids = new Set<string>();
      for (let n = 0; n < 5; n += 1) ids.add((await newSession(given, owner)).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? {} : { cursor };
        const page = await given.store.owners.page(owner, { limit: 2, ...at });
        equal(page.conversations.length > 2, false, 'a page has no more than was asked for');
        seen.push(...page.conversations.map(({ sessionId }) => sessionId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal([...seen].sort(), [...ids].sort());
    });

    it('are listed no more, and count no more, once they are erased', async (given) => {
      const owner = newOwner();
      const [erased, stays] = [await newSession(given, owner), await newSession(given, owner)];
      await given.store.sessions.erase(erased.id);
      equal(await listed(given, owner), [stays.id]);
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      await given.store.sessions.erase(stays.id);
      equal(await given.store.owners.usage(owner), { runs: 0, queued: 0, sessions: 0, bytes: 0 });
    });

    it('are called by their first message if nothing else was said', async (given) => {
      const owner = newOwner();
      const session = drive(given);
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
      await given.store.owners.fold(session.id);
      const { conversations } = await given.store.owners.page(owner, { limit: 1 });
      equal(conversations[0]?.title, 'What is the weather?');
    });

    it('refuse a cursor that is none', async ({ store }) => {
      for (const cursor of ['', 'x', '1', '1.', '-1.s', '1.a b']) {
        await refuses(store.owners.page({ owner: 'a' }, { limit: 1, cursor }), 'validation_error');
      }
    });
  });

  describe('what an owner has', () => {
    it('are runs at work: none while people are asked, one again when they have answered', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner);
      const { fold } = given.store.owners;
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      const runId = await runOf(given, session);
      await session.ask(runId, 1, [newCall('c1', 'approval')]);
      await fold(session.id);
      equal(await counts(given, owner), { runs: 0, queued: 0, sessions: 1 });
      await session.decide(runId, 'c1', false);
      await fold(session.id);
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      await session.begin({ ...owner, messages: [userMessage('u2')], policy: 'queue' });
      await fold(session.id);
      equal(await counts(given, owner), { runs: 1, queued: 1, sessions: 1 });
      await session.stop({ mode: 'abort' });
      await session.end(runId, 'aborted');
      await fold(session.id);
      equal(await counts(given, owner), { runs: 0, queued: 1, sessions: 1 });
    });

    it('counts once what is folded often, at the same time, by several', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner);
      const other = (await given.another()).store;
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? given.store : other).owners.fold(session.id),
        ),
      );
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
    });

    it('is text: what is said, answered and streamed; less when it is taken back or goes', async (given) => {
      const owner = newOwner();
      const session = drive(given);
      const bytes = async (): Promise<number> => {
        await given.store.owners.fold(session.id);
        return (await given.store.owners.usage(owner)).bytes;
      };
      const near = (value: number, expected: number): void => {
        equal(
          Math.abs(value - expected) < 2_000,
          true,
          `${String(value)} is about ${String(expected)}`,
        );
      };
      const begun = await session.begin({
        ...owner,
        messages: [userMessage('u1', 'ä'.repeat(10_000))],
      });
      if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
      near(await bytes(), 20_000);
      const writer = session.writer(begun.run.runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'x'.repeat(30_000));
      near(await bytes(), 50_000);
      const part = { type: 'text', text: 'y'.repeat(5_000) } as const;
      await session.commit(writer, { row: { ...assistantRow(writer, []), parts: [part] } });
      near(await bytes(), 55_000);
      await given.store.documents.save(session.id, {
        customState: { note: 'z'.repeat(7_000) },
        version: 0,
      });
      near(await bytes(), 62_000);
      await given.store.documents.save(session.id, { customState: { note: 1 }, version: 1 });
      near(await bytes(), 55_000);
      await session.retry();
      near(await bytes(), 20_000);
      await session.begin({
        ...owner,
        messages: [{ ...userMessage('u2', 'w'.repeat(9_000)), hash: 'h' }],
        policy: 'queue',
      });
      near(await bytes(), 29_000);
      await given.store.queue.remove({ sessionId: session.id, now: Date.now() });
      near(await bytes(), 20_000);
    });

    it('counts what is copied, and large results of calls', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner);
      const runId = await runOf(given, session);
      await session.ask(runId, 1, [newCall('c1', 'server')]);
      await session.start(runId, 1, 'c1');
      await session.finishCall(runId, 1, 'c1', 'r'.repeat(100_000));
      await given.store.owners.fold(session.id);
      const before = (await given.store.owners.usage(owner)).bytes;
      equal(before > 100_000, true, 'a result counts');
      const rows = [assistantRow(session.writer(runId, 1, 1), [])];
      const copy = newSessionId();
      const messages: never[] = [];
      const turn = { turn: 1, row: 0, messageId: 'msg-1', step: 1, hasReplied: true };
      const part = { type: 'text', text: 'y'.repeat(50_000) } as const;
      await given.store.sessions.branch({
        ...{ ...owner, sessionId: copy, agent: 'tester', nonce: newNonce(), messages, turn },
        ...{ rows: rows.map((row) => ({ ...row, parts: [part] })) },
        ...{ visibleMessages: 1, now: Date.now() },
      });
      await given.store.owners.fold(copy);
      const copied = (await given.store.owners.usage(owner)).bytes - before;
      equal(copied > 50_000 && copied < 52_000, true, String(copied));
    });

    it('is put right by looking through, whatever was not folded', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner);
      await session.end(await runOf(given, session), 'completed');
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      await given.store.owners.repair(owner);
      equal(await counts(given, owner), { runs: 0, queued: 0, sessions: 1 });
    });
  });

  describe('reserve', () => {
    it('refuses what is beyond a limit of the user, and says which', async (given) => {
      const owner = newOwner();
      await newSession(given, owner);
      includes(await reserve(given, owner, { limits: limits({ runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'user',
        limit: 1,
        used: 1,
      });
      includes(await reserve(given, owner, { limits: limits({ sessions: 1 }) }), {
        what: 'sessions',
      });
      includes(await reserve(given, owner, { bytes: 500, limits: limits({ bytes: 499 }) }), {
        what: 'bytes',
        limit: 499,
      });
      equal(await reserve(given, owner, { limits: limits({ runs: 2, sessions: 2 }) }), {
        kind: 'reserved',
      });
    });

    it('refuses what is beyond a limit of the tenant, whichever of its users asks', async (given) => {
      const one = newMember();
      const two = { ...newOwner(), tenant: one.tenant };
      await newSession(given, one);
      includes(await reserve(given, two, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'tenant',
        limit: 1,
      });
      // Without a tenant each user stands alone.
      const { owner } = two;
      equal(await reserve(given, { owner }, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'reserved',
      });
    });

    it('lets as many through at the same moment as the limit says', async (given) => {
      const owner = newMember();
      const other = { ...given, store: (await given.another()).store };
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          reserve(n % 2 === 0 ? given : other, owner, { limits: limits({ runs: 3 }) }),
        ),
      );
      equal(results.filter(({ kind }) => kind === 'reserved').length, 3);
    });

    it('lapses when nothing comes of it, and leaves nothing behind', async (given) => {
      const owner = newMember();
      const limit = { limits: limits({ runs: 1, sessions: 1, bytes: 10 }) };
      const held = { ...limit, bytes: 10, title: 'a secret', forMs: 50 };
      equal(await reserve(given, owner, held), { kind: 'reserved' });
      equal((await given.store.owners.usage(owner)).runs, 1);
      const again = await eventually('it lapses', async () => {
        const result = await reserve(given, owner, limit);
        return result.kind === 'reserved' && result;
      });
      equal(again, { kind: 'reserved' });
      includes(await given.store.owners.usage(owner), { runs: 1, sessions: 1, bytes: 0 });
      equal(await listed(given, owner), []);
    });

    it('of a session that is there leaves it as it was when it lapses', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner, 'its name');
      await session.end(await runOf(given, session), 'completed');
      await given.store.owners.fold(session.id);
      const before = await given.store.owners.usage(owner);
      await reserve(given, owner, { sessionId: session.id, bytes: 7, forMs: 1 });
      await eventually('it lapses', async () => {
        await reserve(given, owner, { sessionId: newSessionId(), forMs: 1 });
        return (await given.store.owners.usage(owner)).runs <= 1;
      });
      await given.store.owners.fold(session.id);
      await eventually('the other one lapses', async () => {
        await reserve(given, owner, { limits: limits({ runs: 0 }) });
        const { sessions } = await given.store.owners.usage(owner);
        return sessions === before.sessions;
      });
      equal(await given.store.owners.usage(owner), before);
      equal(await listed(given, owner), [session.id]);
    });

    it('charges nobody for a session that is another’s', async (given) => {
      const [owner, stranger] = [newOwner(), newOwner()];
      const session = await newSession(given, owner, 'mine');
      await reserve(given, stranger, { sessionId: session.id, title: 'yours' });
      includes(await session.begin({ ...stranger, nonce: newNonce() }), { kind: 'foreign' });
      await given.store.owners.fold(session.id, stranger);
      equal(await counts(given, stranger), { runs: 0, queued: 0, sessions: 0 });
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      equal(await listed(given, stranger), []);
    });

    it('counts behind a run as a message that waits, and needs nothing where none may', async (given) => {
      const owner = newOwner();
      const { id: sessionId } = await newSession(given, owner);
      const tight = { sessionId, limits: limits({ runs: 1, queued: 1 }) };
      equal(await reserve(given, owner, { ...tight, purpose: 'alone' }), { kind: 'reserved' });
      equal(await reserve(given, owner, tight), { kind: 'reserved' });
      includes(await reserve(given, owner, tight), { kind: 'exceeded', what: 'queued' });
    });

    it('looks again before it refuses a run: others may have ended unnoticed', async (given) => {
      const owner = newOwner();
      const session = await newSession(given, owner);
      await session.end(await runOf(given, session), 'completed');
      equal(await counts(given, owner), { runs: 1, queued: 0, sessions: 1 });
      equal(await reserve(given, owner, { limits: limits({ runs: 1 }) }), { kind: 'reserved' });
    });

    it('refuses an owner who has stored as much as there may be, however little comes', async (given) => {
      const owner = newOwner();
      const full = { limits: limits({ bytes: 0 }) };
      includes(await reserve(given, owner, full), { kind: 'exceeded', what: 'bytes' });
    });
  });
}
