import type { OwnerCounts, ReserveInput, ReserveResult } from '../../contract/owners.js';
import type { SessionOwner } from '../../contract/waiting.js';
import { equal, includes, refuses, eventually } from '../assertions.js';
import { assistantRow, newCall, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';

/** A user that only this case uses. */
function newOwner(): SessionOwner {
  return { owner: `owner-${newSessionId()}` };
}

/** A user of a tenant that only this case uses. */
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

/** A session with an active run, after a reservation. */
async function newSession(setup: Case, owner: SessionOwner, title = ''): Promise<SessionDriver> {
  const session = drive(setup);
  await reserve(setup, owner, { sessionId: session.id, title });
  const begun = await session.begin(owner);
  if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
  await setup.store.owners.fold(session.id, owner);
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

  describe('what an owner has', () => {
    it('a run counts as active except while people are asked', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const { fold } = setup.store.owners;
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      const runId = await runOf(setup, session);
      await session.ask(runId, 1, [newCall('c1', 'approval')]);
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
      await setup.store.documents.save(session.id, {
        customState: { note: 'z'.repeat(7_000) },
        version: 0,
      });
      near(await bytes(), 62_000);
      await setup.store.documents.save(session.id, { customState: { note: 1 }, version: 1 });
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
      await session.ask(runId, 1, [newCall('c1', 'server')]);
      await session.start(runId, 1, 'c1');
      await session.finishCall(runId, 1, 'c1', 'r'.repeat(100_000));
      await setup.store.owners.fold(session.id);
      const before = (await setup.store.owners.usage(owner)).bytes;
      equal(before > 100_000, true, 'a result counts');
      const rows = [assistantRow(session.writer(runId, 1, 1), [])];
      const copy = newSessionId();
      const messages: never[] = [];
      const turn = { turn: 1, row: 0, messageId: 'msg-1', step: 1, hasReplied: true };
      const part = { type: 'text', text: 'y'.repeat(50_000) } as const;
      await setup.store.sessions.branch({
        ...{ ...owner, sessionId: copy, agent: 'tester', nonce: newNonce(), messages, turn },
        ...{ rows: rows.map((row) => ({ ...row, parts: [part] })) },
        ...{ visibleMessages: 1, now: Date.now() },
      });
      await setup.store.owners.fold(copy);
      const copied = (await setup.store.owners.usage(owner)).bytes - before;
      equal(copied > 50_000 && copied < 52_000, true, String(copied));
    });

    it('a repair corrects figures whose folds were lost', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      await session.end(await runOf(setup, session), 'completed');
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      await setup.store.owners.repair(owner);
      equal(await counts(setup, owner), { runs: 0, queued: 0, sessions: 1 });
    });
  });

  describe('reserve', () => {
    it('a reservation beyond a limit of the user is refused with that limit', async (setup) => {
      const owner = newOwner();
      await newSession(setup, owner);
      includes(await reserve(setup, owner, { limits: limits({ runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'user',
        limit: 1,
        used: 1,
      });
      includes(await reserve(setup, owner, { limits: limits({ sessions: 1 }) }), {
        what: 'sessions',
      });
      includes(await reserve(setup, owner, { bytes: 500, limits: limits({ bytes: 499 }) }), {
        what: 'bytes',
        limit: 499,
      });
      equal(await reserve(setup, owner, { limits: limits({ runs: 2, sessions: 2 }) }), {
        kind: 'reserved',
      });
    });

    it('a reservation beyond a limit of the tenant is refused for all its users', async (setup) => {
      const one = newMember();
      const two = { ...newOwner(), tenant: one.tenant };
      await newSession(setup, one);
      includes(await reserve(setup, two, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'tenant',
        limit: 1,
      });
      // Users without a tenant are counted separately.
      const { owner } = two;
      equal(await reserve(setup, { owner }, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'reserved',
      });
    });

    it('concurrent reservations succeed up to the limit and no further', async (setup) => {
      const owner = newMember();
      const other = { ...setup, store: (await setup.another()).store };
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          reserve(n % 2 === 0 ? setup : other, owner, { limits: limits({ runs: 3 }) }),
        ),
      );
      equal(results.filter(({ kind }) => kind === 'reserved').length, 3);
    });

    it('an unused reservation expires without a trace', async (setup) => {
      const owner = newMember();
      const limit = { limits: limits({ runs: 1, sessions: 1, bytes: 10 }) };
      const held = { ...limit, bytes: 10, title: 'a secret', forMs: 50 };
      equal(await reserve(setup, owner, held), { kind: 'reserved' });
      equal((await setup.store.owners.usage(owner)).runs, 1);
      const again = await eventually('it lapses', async () => {
        const result = await reserve(setup, owner, limit);
        return result.kind === 'reserved' && result;
      });
      equal(again, { kind: 'reserved' });
      includes(await setup.store.owners.usage(owner), { runs: 1, sessions: 1, bytes: 0 });
      equal(await listed(setup, owner), []);
    });

    it('an expired reservation leaves an existing session’s figures unchanged', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner, 'its name');
      await session.end(await runOf(setup, session), 'completed');
      await setup.store.owners.fold(session.id);
      const before = await setup.store.owners.usage(owner);
      await reserve(setup, owner, { sessionId: session.id, bytes: 7, forMs: 1 });
      await eventually('it lapses', async () => {
        await reserve(setup, owner, { sessionId: newSessionId(), forMs: 1 });
        return (await setup.store.owners.usage(owner)).runs <= 1;
      });
      await setup.store.owners.fold(session.id);
      await eventually('the other one lapses', async () => {
        await reserve(setup, owner, { limits: limits({ runs: 0 }) });
        const { sessions } = await setup.store.owners.usage(owner);
        return sessions === before.sessions;
      });
      equal(await setup.store.owners.usage(owner), before);
      equal(await listed(setup, owner), [session.id]);
    });

    it('the owner of a reservation is not charged for a session of another owner', async (setup) => {
      const [owner, stranger] = [newOwner(), newOwner()];
      const session = await newSession(setup, owner, 'mine');
      await reserve(setup, stranger, { sessionId: session.id, title: 'yours' });
      includes(await session.begin({ ...stranger, nonce: newNonce() }), { kind: 'foreign' });
      await setup.store.owners.fold(session.id, stranger);
      equal(await counts(setup, stranger), { runs: 0, queued: 0, sessions: 0 });
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      equal(await listed(setup, stranger), []);
    });

    it('a reservation behind a run counts as a queued message, or as nothing if queueing is not allowed', async (setup) => {
      const owner = newOwner();
      const { id: sessionId } = await newSession(setup, owner);
      const tight = { sessionId, limits: limits({ runs: 1, queued: 1 }) };
      equal(await reserve(setup, owner, { ...tight, purpose: 'alone' }), { kind: 'reserved' });
      equal(await reserve(setup, owner, tight), { kind: 'reserved' });
      includes(await reserve(setup, owner, tight), { kind: 'exceeded', what: 'queued' });
    });

    it('ended runs that still count are found before a run is refused', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      await session.end(await runOf(setup, session), 'completed');
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      equal(await reserve(setup, owner, { limits: limits({ runs: 1 }) }), { kind: 'reserved' });
    });

    it('an owner at the storage limit is refused however little is added', async (setup) => {
      const owner = newOwner();
      const full = { limits: limits({ bytes: 0 }) };
      includes(await reserve(setup, owner, full), { kind: 'exceeded', what: 'bytes' });
    });
  });
}
