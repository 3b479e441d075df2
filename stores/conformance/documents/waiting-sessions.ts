import { equal, refuses } from '../assertions.js';
import { approval, client, newSessionId, server } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';

/** An owner that only this case uses. */
function newOwner(): string {
  return `owner-${newSessionId()}`;
}

/** A session of this owner that waits for an approval. */
async function newAsking(setup: Case, owner: string, tenant?: string): Promise<SessionDriver> {
  const session = drive(setup);
  const run = await session.newRun({ owner, tenant });
  await session.ask(run.runId, 1, [approval('c1')]);
  return session;
}

async function waitingIds({ store }: Case, owner: string, tenant?: string): Promise<string[]> {
  const whose = { owner, tenant };
  const { sessions } = await store.waiting.page(whose, { limit: 50 });
  return sessions.map(({ record }) => record.sessionId);
}

async function runOf({ store }: Case, { id }: SessionDriver): Promise<string> {
  return (await store.sessions.read(id))?.runId ?? '';
}

export function waitingSessionCases({ describe, it }: Suite): void {
  describe('sessions that wait for people', () => {
    it('sessions are listed with their questions, longest waiting first', async (setup) => {
      const owner = newOwner();
      const first = await newAsking(setup, owner);
      const second = await newAsking(setup, owner);
      const { sessions, cursor } = await setup.store.waiting.page({ owner }, { limit: 50 });
      equal(cursor, undefined);
      const found = sessions.map(({ record, openCalls }) => [
        record.sessionId,
        openCalls.map(({ spec }) => spec.toolCallId),
      ]);
      // Within the same millisecond the order is that of the ids.
      const isTie = sessions[0]?.since === sessions[1]?.since;
      const ids = isTie ? [first.id, second.id].sort() : [first.id, second.id];
      equal(
        found,
        ids.map((id) => [id, ['c1']]),
      );
    });

    it('a list contains only the owner’s sessions, within one tenant', async (setup) => {
      const owner = newOwner();
      const plain = await newAsking(setup, owner);
      const tenants = await newAsking(setup, owner, 'acme');
      const nested = await newAsking(setup, `acme:${owner}`);
      equal(await waitingIds(setup, owner), [plain.id]);
      equal(await waitingIds(setup, owner, 'acme'), [tenants.id]);
      equal(await waitingIds(setup, `acme:${owner}`), [nested.id]);
      equal(await waitingIds(setup, newOwner()), []);
    });

    it('pages leave out no session', async (setup) => {
      const owner = newOwner();
      const ids = new Set<string>();
      for (let n = 0; n < 5; n += 1) ids.add((await newAsking(setup, owner)).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? {} : { cursor };
        const page = await setup.store.waiting.page({ owner }, { limit: 2, ...at });
        equal(page.sessions.length > 2, false, 'a page has no more than was asked for');
        seen.push(...page.sessions.map(({ record }) => record.sessionId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal([...seen].sort(), [...ids].sort());
    });

    it('a session is no longer listed once it is answered, stopped or erased', async (setup) => {
      const owner = newOwner();
      const [answered, stopped, erased, waiting] = [
        await newAsking(setup, owner),
        await newAsking(setup, owner),
        await newAsking(setup, owner),
        await newAsking(setup, owner),
      ];
      await answered.decide(await runOf(setup, answered), 'c1', true);
      await stopped.stop();
      await setup.store.sessions.erase(erased.id);
      equal(await waitingIds(setup, owner), [waiting.id]);
    });

    it('a session that asks again is listed again', async (setup) => {
      const owner = newOwner();
      const session = await newAsking(setup, owner);
      const runId = await runOf(setup, session);
      await session.decide(runId, 'c1', false);
      equal(await waitingIds(setup, owner), []);
      await session.ask(runId, 2, [client('c2')]);
      equal(await waitingIds(setup, owner), [session.id]);
    });

    it('a waiting session that its list has lost is listed again when noted', async (setup) => {
      const owner = newOwner();
      const { id } = await newAsking(setup, owner);
      await setup.store.waiting.forget(id);
      equal(await waitingIds(setup, owner), []);
      await setup.store.waiting.note(id);
      await setup.store.waiting.note(id);
      equal(await waitingIds(setup, owner), [id]);
    });

    it('a session without open questions is not listed', async (setup) => {
      const owner = newOwner();
      const session = drive(setup);
      const run = await session.newRun({ owner });
      await session.ask(run.runId, 1, [server('c1')]);
      await setup.store.waiting.note(session.id);
      equal(await waitingIds(setup, owner), []);
    });

    it('the whole knows the question that has waited longest, until it is answered', async (setup) => {
      const { waiting } = setup.store;
      const before = Date.now();
      const session = await newAsking(setup, newOwner());
      const since = (await waiting.since(session.id)) ?? 0;
      // The store's clock may be another one.
      equal(Math.abs(since - before) < 60_000, true);
      const { count, oldest = Infinity } = await waiting.standing();
      equal([count > 0, oldest <= since], [true, true]);
      await session.decide(await runOf(setup, session), 'c1', false);
      await waiting.forget(session.id);
      equal(await waiting.since(session.id), undefined);
      equal(await waiting.since(newSessionId()), undefined);
    });

    it('the list of a tenant has the sessions of all its owners, and of no other tenant', async (setup) => {
      const tenant = newOwner();
      const first = await newAsking(setup, 'ann', tenant);
      const second = await newAsking(setup, 'bob', tenant);
      await newAsking(setup, 'ann', newOwner());
      await newAsking(setup, tenant);
      const page = { limit: 1 };
      const { sessions, cursor = '' } = await setup.store.waiting.pageOfTenant(tenant, page);
      const rest = await setup.store.waiting.pageOfTenant(tenant, { ...page, cursor });
      equal(rest.cursor, undefined);
      const found = [...sessions, ...rest.sessions].map(({ record }) => record.sessionId);
      equal(found.sort(), [first.id, second.id].sort());
      const since = sessions[0]?.since ?? 0;
      const before = { limit: 9, askedBy: since - 1 };
      equal(await setup.store.waiting.pageOfTenant(tenant, before), { sessions: [] });
      const until = await setup.store.waiting.pageOfTenant(tenant, { limit: 9, askedBy: since });
      equal(until.sessions[0]?.since, since);
      await first.decide(await runOf(setup, first), 'c1', true);
      await setup.store.sessions.erase(second.id);
      equal(await setup.store.waiting.pageOfTenant(tenant, { limit: 9 }), { sessions: [] });
    });

    it('the list of a tenant is complete after an entry is lost and noted again', async (setup) => {
      const tenant = newOwner();
      const { id } = await newAsking(setup, 'ann', tenant);
      await setup.store.waiting.forget(id);
      equal(await setup.store.waiting.pageOfTenant(tenant, { limit: 9 }), { sessions: [] });
      await setup.store.waiting.note(id);
      const { sessions } = await setup.store.waiting.pageOfTenant(tenant, { limit: 9 });
      equal(
        sessions.map(({ record }) => record.sessionId),
        [id],
      );
    });

    it('a malformed cursor is refused', async ({ store }) => {
      for (const cursor of ['', 'x', '1', '1.', '-1.s', '1.a b']) {
        await refuses(store.waiting.page({ owner: 'a' }, { limit: 1, cursor }), 'validation_error');
      }
    });
  });

  describe('withCalls', () => {
    it('it returns the record and the calls of a view', async (setup) => {
      const { id } = await newAsking(setup, newOwner());
      const view = await setup.store.sessions.view(id);
      equal(await setup.store.sessions.withCalls(id), {
        record: view?.record,
        openCalls: view?.openCalls,
      });
      equal(await setup.store.sessions.withCalls(newSessionId()), undefined);
    });

    it("a page with calls leaves out the calls of another owner's session", async (given) => {
      const owner = newOwner();
      const { id } = await newAsking(given, owner);
      const { sessions } = given.store;
      const own = await sessions.withCalls(id, { owner });
      equal(own, await sessions.withCalls(id));
      equal(own?.openCalls.length === 0, false);
      const record = await sessions.read(id);
      const strangers = [{ owner: 'b' }, { owner, tenant: 't' }, { owner: '' }];
      for (const stranger of strangers) {
        equal(await sessions.withCalls(id, stranger), { record, openCalls: [] });
      }
      equal(await sessions.withCalls(newSessionId(), { owner }), undefined);
    });
  });
}
