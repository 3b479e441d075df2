import { equal, refuses } from '../assertions.js';
import { newCall, newSessionId } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';

/** An owner whom no other case knows. */
function newOwner(): string {
  return `owner-${newSessionId()}`;
}

/** A session of this owner that asks for an approval. */
async function newAsking(given: Case, owner: string, tenant?: string): Promise<SessionDriver> {
  const session = drive(given);
  const begun = await session.begin({ owner, ...(tenant !== undefined && { tenant }) });
  if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
  await session.ask(begun.run.runId, 1, [newCall('c1', 'approval')]);
  return session;
}

async function waitingIds({ store }: Case, owner: string, tenant?: string): Promise<string[]> {
  const whose = { owner, ...(tenant !== undefined && { tenant }) };
  const { sessions } = await store.waiting.page(whose, { limit: 50 });
  return sessions.map(({ record }) => record.sessionId);
}

async function runOf({ store }: Case, { id }: SessionDriver): Promise<string> {
  return (await store.sessions.read(id))?.runId ?? '';
}

export function waitingSessionCases({ describe, it }: Suite): void {
  describe('sessions that wait for people', () => {
    it('are listed with their questions, those first that have waited longest', async (given) => {
      const owner = newOwner();
      const first = await newAsking(given, owner);
      const second = await newAsking(given, owner);
      const { sessions, cursor } = await given.store.waiting.page({ owner }, { limit: 50 });
      equal(cursor, undefined);
      const found = sessions.map(({ record, openCalls }) => [
        record.sessionId,
        openCalls.map(({ spec }) => spec.toolCallId),
      ]);
      // Two may ask within the same millisecond: then the ids decide.
      const isTie = sessions[0]?.since === sessions[1]?.since;
      const ids = isTie ? [first.id, second.id].sort() : [first.id, second.id];
      equal(
        found,
        ids.map((id) => [id, ['c1']]),
      );
    });

    it('are nobody else’s, and of one tenant only', async (given) => {
      const owner = newOwner();
      const plain = await newAsking(given, owner);
      const tenants = await newAsking(given, owner, 'acme');
      const nested = await newAsking(given, `acme:${owner}`);
      equal(await waitingIds(given, owner), [plain.id]);
      equal(await waitingIds(given, owner, 'acme'), [tenants.id]);
      equal(await waitingIds(given, `acme:${owner}`), [nested.id]);
      equal(await waitingIds(given, newOwner()), []);
    });

    it('come in pages that leave none out', async (given) => {
      const owner = newOwner();
      const ids = new Set<string>();
      for (let n = 0; n < 5; n += 1) ids.add((await newAsking(given, owner)).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? {} : { cursor };
        const page = await given.store.waiting.page({ owner }, { limit: 2, ...at });
        equal(page.sessions.length > 2, false, 'a page has no more than was asked for');
        seen.push(...page.sessions.map(({ record }) => record.sessionId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal([...seen].sort(), [...ids].sort());
    });

    it('are listed no more once they are answered, stopped or erased', async (given) => {
      const owner = newOwner();
      const [answered, stopped, erased, waiting] = [
        await newAsking(given, owner),
        await newAsking(given, owner),
        await newAsking(given, owner),
        await newAsking(given, owner),
      ];
      await answered.decide(await runOf(given, answered), 'c1', true);
      await stopped.stop();
      await given.store.sessions.erase(erased.id);
      equal(await waitingIds(given, owner), [waiting.id]);
    });

    it('are listed again when they ask again', async (given) => {
      const owner = newOwner();
      const session = await newAsking(given, owner);
      const runId = await runOf(given, session);
      await session.decide(runId, 'c1', false);
      equal(await waitingIds(given, owner), []);
      await session.ask(runId, 2, [newCall('c2', 'client')]);
      equal(await waitingIds(given, owner), [session.id]);
    });

    it('are found by those who look after them if the list had lost them', async (given) => {
      const owner = newOwner();
      const { id } = await newAsking(given, owner);
      await given.store.waiting.forget(id);
      equal(await waitingIds(given, owner), []);
      await given.store.waiting.note(id);
      await given.store.waiting.note(id);
      equal(await waitingIds(given, owner), [id]);
    });

    it('do not include sessions that nobody is asked in', async (given) => {
      const owner = newOwner();
      const session = drive(given);
      const begun = await session.begin({ owner });
      if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
      await session.ask(begun.run.runId, 1, [newCall('c1', 'server')]);
      await given.store.waiting.note(session.id);
      equal(await waitingIds(given, owner), []);
    });

    it('refuse a cursor that is none', async ({ store }) => {
      for (const cursor of ['', 'x', '1', '1.', '-1.s', '1.a b']) {
        await refuses(store.waiting.page({ owner: 'a' }, { limit: 1, cursor }), 'validation_error');
      }
    });
  });

  describe('withCalls', () => {
    it('gives the record and the calls of a view', async (given) => {
      const { id } = await newAsking(given, newOwner());
      const view = await given.store.sessions.view(id);
      equal(await given.store.sessions.withCalls(id), {
        record: view?.record,
        openCalls: view?.openCalls,
      });
      equal(await given.store.sessions.withCalls(newSessionId()), undefined);
    });

    it('leaves the calls out of a session of another owner', async (given) => {
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
