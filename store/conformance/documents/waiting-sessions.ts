import { equal, readPages, refuses } from '../assertions.js';
import { approval, client, newSessionId, server } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import type { Store } from '../../contract/store.js';
import type { WaitingPageOptions } from '../../contract/waiting.js';

/** A name of an owner or a tenant that only this case uses. */
const newName = (): string => `owner-${newSessionId()}`;

/** A session of this owner that waits for an approval. */
async function newAsking(setup: Case, owner: string, tenant?: string): Promise<SessionDriver> {
  const session = drive(setup);
  const run = await session.newRun({ owner, tenant });
  await session.ask(run.runId, 1, [approval('c1')]);
  return session;
}

const LISTS = {
  owner: ({ waiting }: Store, whose: string, page: WaitingPageOptions) =>
    waiting.page({ owner: 'ann', tenant: whose }, page),
  tenant: ({ waiting }: Store, whose: string, page: WaitingPageOptions) =>
    waiting.pageOfTenant(whose, page),
};

async function waitingIds({ store }: Case, owner: string, tenant?: string): Promise<string[]> {
  const { sessions } = await store.waiting.page({ owner, tenant }, { limit: 50 });
  return sessions.map(({ record }) => record.sessionId);
}

async function answer(session: SessionDriver, approved: boolean): Promise<void> {
  await session.decide((await session.record())?.runId ?? '', 'c1', approved);
}

export function waitingSessionCases({ describe, it }: Suite): void {
  for (const [of, readPage] of Object.entries(LISTS)) {
    describe(`sessions that wait for people, of an ${of}`, () => {
      const idsOf = async ({ store }: Case, whose: string): Promise<string[]> =>
        (await readPage(store, whose, { limit: 50 })).sessions.map(
          ({ record }) => record.sessionId,
        );

      it('pages leave out no session', async (setup) => {
        const whose = newName();
        const ids = new Set<string>();
        for (let n = 0; n < 5; n += 1) ids.add((await newAsking(setup, 'ann', whose)).id);
        const seen = await readPages(async (page) => {
          const { sessions, cursor } = await readPage(setup.store, whose, page);
          return [sessions.map(({ record }) => record.sessionId), cursor];
        });
        equal(seen.sort(), [...ids].sort());
      });

      it('a session is no longer listed once it is answered, stopped or erased', async (setup) => {
        const whose = newName();
        const [answered, stopped, erased, waiting] = [
          await newAsking(setup, 'ann', whose),
          await newAsking(setup, 'ann', whose),
          await newAsking(setup, 'ann', whose),
          await newAsking(setup, 'ann', whose),
        ];
        await answer(answered, true);
        await stopped.stop();
        await setup.store.sessions.erase(erased.id);
        equal(await idsOf(setup, whose), [waiting.id]);
      });

      it('a waiting session that its list has lost is listed again when noted', async (setup) => {
        const whose = newName();
        const { id } = await newAsking(setup, 'ann', whose);
        await setup.store.waiting.forget(id);
        equal(await idsOf(setup, whose), []);
        await setup.store.waiting.note(id);
        await setup.store.waiting.note(id);
        equal(await idsOf(setup, whose), [id]);
      });

      it('a malformed cursor is refused', async ({ store }) => {
        for (const cursor of ['', 'x', '1', '1.', '-1.s', '1.a b']) {
          await refuses(readPage(store, 'a', { limit: 1, cursor }), 'validation_error');
        }
      });
    });
  }

  describe('sessions that wait for people', () => {
    it('sessions are listed with their questions, longest waiting first', async (setup) => {
      const owner = newName();
      const first = await newAsking(setup, owner);
      const second = await newAsking(setup, owner);
      const { sessions, cursor } = await setup.store.waiting.page({ owner }, { limit: 50 });
      equal(cursor, undefined);
      const found = sessions.map(({ record, openCalls }) => [
        record.sessionId,
        openCalls.map(({ spec }) => spec.toolCallId),
      ]);
      // Sessions of the same millisecond are ordered by id.
      const isTie = sessions[0]?.since === sessions[1]?.since;
      const ids = isTie ? [first.id, second.id].sort() : [first.id, second.id];
      equal(
        found,
        ids.map((id) => [id, ['c1']]),
      );
    });

    it('a list contains only the owner’s sessions, within one tenant', async (setup) => {
      const owner = newName();
      const plain = await newAsking(setup, owner);
      const tenants = await newAsking(setup, owner, 'acme');
      const nested = await newAsking(setup, `acme:${owner}`);
      equal(await waitingIds(setup, owner), [plain.id]);
      equal(await waitingIds(setup, owner, 'acme'), [tenants.id]);
      equal(await waitingIds(setup, `acme:${owner}`), [nested.id]);
      equal(await waitingIds(setup, newName()), []);
    });

    it('a session is listed while it asks, again when it asks again, and never without a question', async (setup) => {
      const owner = newName();
      const session = drive(setup);
      const { runId } = await session.newRun({ owner });
      await session.ask(runId, 1, [server('s')]);
      await setup.store.waiting.note(session.id);
      equal(await waitingIds(setup, owner), []);
      await session.carryOut(runId, 1, 's', 1);
      await session.ask(runId, 2, [approval('c1')]);
      equal(await waitingIds(setup, owner), [session.id]);
      await session.decide(runId, 'c1', false);
      equal(await waitingIds(setup, owner), []);
      await session.ask(runId, 3, [client('c2'), server('s2')]);
      equal(await waitingIds(setup, owner), [session.id]);
    });

    it('the whole knows the question that has waited longest, until it is answered', async (setup) => {
      const { waiting } = setup.store;
      const before = Date.now();
      const session = await newAsking(setup, newName());
      const since = (await waiting.since(session.id)) ?? 0;
      // The store's clock may differ.
      equal(Math.abs(since - before) < 60_000, true);
      const { count, oldest = Infinity } = await waiting.standing();
      equal([count > 0, oldest <= since], [true, true]);
      await answer(session, false);
      await waiting.forget(session.id);
      equal(await waiting.since(session.id), undefined);
      equal(await waiting.since(newSessionId()), undefined);
    });

    it('the list of a tenant has the sessions of all its owners, and of no other tenant', async (setup) => {
      const { waiting } = setup.store;
      const tenant = newName();
      const asking = [await newAsking(setup, 'ann', tenant), await newAsking(setup, 'bob', tenant)];
      await newAsking(setup, 'ann', newName());
      await newAsking(setup, tenant);
      const { sessions } = await waiting.pageOfTenant(tenant, { limit: 9 });
      const found = sessions.map(({ record }) => record.sessionId);
      equal(found.sort(), asking.map(({ id }) => id).sort());
      const since = sessions[0]?.since ?? 0;
      const before = { limit: 9, askedBy: since - 1 };
      equal(await waiting.pageOfTenant(tenant, before), { sessions: [] });
      const until = await waiting.pageOfTenant(tenant, { limit: 1, askedBy: since });
      equal(until.sessions[0]?.since, since);
    });
  });

  describe('withCalls', () => {
    it('it returns the record and the calls of a view, of the own session only', async (given) => {
      const owner = newName();
      const { id, view } = await newAsking(given, owner);
      const { sessions } = given.store;
      const { record, openCalls = [] } = (await view()) ?? {};
      equal(openCalls.length, 1);
      equal(await sessions.withCalls(id), { record, openCalls });
      equal(await sessions.withCalls(id, { owner }), { record, openCalls });
      for (const stranger of [{ owner: 'b' }, { owner, tenant: 't' }, { owner: '' }]) {
        equal(await sessions.withCalls(id, stranger), { record, openCalls: [] });
      }
      equal(await sessions.withCalls(newSessionId()), undefined);
      equal(await sessions.withCalls(newSessionId(), { owner }), undefined);
    });
  });
}
