import { equal, includes } from '../assertions.js';
import { newNonce, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import {
  admit,
  counts,
  limits,
  listed,
  newMember,
  newOwner,
  newSession,
  runOf,
} from './owner-fixtures.js';

export function ownerAdmissionCases({ describe, it }: Suite): void {
  describe('admit', () => {
    it('what goes beyond a limit of the user is refused with that limit', async (setup) => {
      const owner = newOwner();
      await newSession(setup, owner);
      includes(await admit(setup, owner, { limits: limits({ runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'user',
        limit: 1,
        used: 1,
      });
      includes(await admit(setup, owner, { limits: limits({ sessions: 1 }) }), {
        what: 'sessions',
      });
      includes(await admit(setup, owner, { bytes: 500, limits: limits({ bytes: 499 }) }), {
        what: 'bytes',
        limit: 499,
      });
      includes(await admit(setup, owner, { limits: limits({ runs: 2, sessions: 2 }) }), {
        kind: 'admitted',
      });
    });

    it('what goes beyond a limit of the tenant is refused for all its users', async (setup) => {
      const one = newMember();
      const two = { ...newOwner(), tenant: one.tenant };
      await newSession(setup, one);
      includes(await admit(setup, two, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
        of: 'tenant',
        limit: 1,
      });
      // Users without a tenant are counted separately.
      const { owner } = two;
      includes(await admit(setup, { owner }, { limits: limits({ runs: 1 }, { runs: 1 }) }), {
        kind: 'admitted',
      });
    });

    it('of requests at once, those up to the limit begin, and no further', async (setup) => {
      const owner = newMember();
      const limit = { limits: limits({ runs: 3 }) };
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const session = drive(setup);
          const admitted = await admit(setup, owner, { ...limit, sessionId: session.id });
          if (admitted.kind === 'exceeded') return admitted.what;
          await session.begin(owner);
          await setup.store.owners.fold(session.id, owner);
          admitted.done();
          return 'begun';
        }),
      );
      equal(outcomes.filter((outcome) => outcome === 'begun').length, 3);
      equal(outcomes.filter((outcome) => outcome === 'runs').length, 17);
      equal(await counts(setup, owner), { runs: 3, queued: 0, sessions: 3 });
    });

    it('who would exceed a limit with what another may begin waits, and is admitted if it begins nothing', async (setup) => {
      const owner = newMember();
      const limit = { limits: limits({ runs: 1 }) };
      const first = await admit(setup, owner, limit);
      const second = admit(setup, owner, limit);
      if (first.kind === 'admitted') first.done();
      includes(await second, { kind: 'admitted' });
    });

    it('another process admits no more once what was begun is charged', async (setup) => {
      const owner = newMember();
      const other = { ...setup, store: (await setup.another()).store };
      await newSession(setup, owner);
      includes(await admit(other, owner, { limits: limits({ runs: 1 }) }), {
        kind: 'exceeded',
        what: 'runs',
      });
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

    it('what comes behind a run counts as a queued message, or as nothing if queueing is not allowed', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const tight = { sessionId: session.id, limits: limits({ runs: 1, queued: 1 }) };
      for (const purpose of ['alone', 'run'] as const) {
        const admitted = await admit(setup, owner, { ...tight, purpose });
        includes(admitted, { kind: 'admitted' });
        if (admitted.kind === 'admitted') admitted.done();
      }
      await session.begin({ ...owner, messages: [userMessage('u2')], policy: 'queue' });
      await setup.store.owners.fold(session.id);
      includes(await admit(setup, owner, { ...tight, purpose: 'alone' }), { kind: 'admitted' });
      includes(await admit(setup, owner, tight), { kind: 'exceeded', what: 'queued' });
    });

    it('ended runs that still count are found before a run is refused', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      await session.end(await runOf(setup, session), 'completed');
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      includes(await admit(setup, owner, { limits: limits({ runs: 1 }) }), { kind: 'admitted' });
    });

    it('an owner at the storage limit is refused however little is added', async (setup) => {
      const owner = newOwner();
      const full = { limits: limits({ bytes: 0 }) };
      includes(await admit(setup, owner, full), { kind: 'exceeded', what: 'bytes' });
    });
  });
}
