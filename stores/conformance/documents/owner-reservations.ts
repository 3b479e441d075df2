import { equal, includes, eventually } from '../assertions.js';
import { newNonce, newSessionId } from '../fixtures.js';
import type { Suite } from '../suite.js';
import {
  counts,
  limits,
  listed,
  newMember,
  newOwner,
  newSession,
  reserve,
  runOf,
} from './owner-fixtures.js';

export function ownerReservationCases({ describe, it }: Suite): void {
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

    it('what is released makes room, and the last of it leaves no trace', async (setup) => {
      const owner = newMember();
      const sessionId = newSessionId();
      const input = { sessionId, purpose: 'copy', forMs: 60_000 } as const;
      const release = (bytes: number): Promise<void> =>
        setup.store.owners.release({ ...owner, sessionId, bytes });
      await reserve(setup, owner, { ...input, bytes: 600 });
      await reserve(setup, owner, { ...input, bytes: 300 });
      await release(600);
      includes(await setup.store.owners.usage(owner), { sessions: 1, bytes: 300 });
      await release(300);
      includes(await setup.store.owners.usage(owner), { sessions: 0, bytes: 0 });
      await release(300);
      includes(await setup.store.owners.usage(owner), { sessions: 0, bytes: 0 });
    });

    it('nothing is released of a conversation that exists', async (setup) => {
      const owner = newOwner();
      const { id: sessionId } = await newSession(setup, owner);
      const before = await setup.store.owners.usage(owner);
      await setup.store.owners.release({ ...owner, sessionId, bytes: 1 });
      equal(await setup.store.owners.usage(owner), before);
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
