import { admit } from '../../../extensions/limits/admission.js';
import { toQuotas } from '../../../extensions/limits/index.js';
import type { HelixError } from '../../../protocol/errors.js';
import type { AdmitInput } from '../../../runs/extension.js';
import type { OwnerCounts } from '../../../store/contract/owners.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive, newSessionId, userMessage } from '../../support/session-driver.js';

const ANN = { owner: 'ann', tenant: 'acme' };

/** Opens a store. */
function open() {
  const stores = createMemoryStores();
  const { owners } = stores.store;
  return {
    session: drive(stores),
    drive: (id: string) => drive(stores, id),
    owners,
    /** Returns the function to call once the request is done, or the exceeded limit. */
    admit: (user: Partial<OwnerCounts>, input: Partial<AdmitInput> = {}, ofTenant?: number) => {
      const request = { ...ANN, sessionId: newSessionId(), purpose: 'run', bytes: 0 } as const;
      return admit(toQuotas(user, ofTenant), { ...request, ...input }, owners).catch(
        (error: unknown) => ((error as HelixError).detail as { what: string }).what,
      );
    },
  };
}

it('of requests at once, those up to the limit begin, and no further', async () => {
  const { admit, drive: driveOf, owners } = open();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const sessionId = newSessionId();
      const done = await admit({ runs: 3 }, { sessionId });
      if (typeof done === 'string') return done;
      await driveOf(sessionId).begin(ANN);
      await owners.fold(sessionId, ANN);
      done();
      return 'begun';
    }),
  );
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(3);
  expect(outcomes.filter((outcome) => outcome === 'runs')).toHaveLength(17);
});

it('who would exceed a limit with what another may begin waits, and is admitted if it begins nothing', async () => {
  const { admit } = open();
  const first = await admit({ runs: 1 });
  const second = admit({ runs: 1 });
  if (typeof first !== 'string') first();
  expect(await second).toBeInstanceOf(Function);
});

it('what others of a tenant, or requests of the same conversation, may begin is no limit of the user', async () => {
  const { admit } = open();
  const sessionId = newSessionId();
  const atOnce = (...request: Parameters<typeof admit>) =>
    Promise.race([admit(...request), nextTurn('waits')]);
  const tight = { runs: 1, sessions: 1, queued: 1 };
  expect(await atOnce(tight, { sessionId })).toBeInstanceOf(Function);
  expect(await atOnce(tight, { owner: 'bob' })).toBeInstanceOf(Function);
  expect(await atOnce(tight, { sessionId })).toBeInstanceOf(Function);
  expect(await atOnce(tight, { sessionId })).toBe('waits');
});

it('requests of a tenant count together, those of users without one alone, and those of each store', async () => {
  const { admit } = open();
  const bob = { owner: 'bob' };
  const ends = [
    await admit({ runs: 1 }, {}, 1),
    await admit({ runs: 1 }, { tenant: undefined }, 1),
  ];
  expect(await admit({ runs: 1 }, { ...bob, tenant: undefined }, 1)).toBeInstanceOf(Function);
  expect(await open().admit({ runs: 1 }, {}, 1)).toBeInstanceOf(Function);
  const second = admit({ runs: 1 }, bob, 1);
  const first = await Promise.race([second, nextTurn('waits')]);
  expect(first).toBe('waits');
  for (const end of ends) if (typeof end !== 'string') end();
  expect(await second).toBeInstanceOf(Function);
});

it('what comes behind a run counts as a queued message, or as nothing if queueing is not allowed', async () => {
  const { admit, session, owners } = open();
  const tight = { runs: 1, queued: 1 };
  await session.newRun(ANN);
  await owners.fold(session.id);
  // A copy starts no run.
  expect(await admit(tight, { purpose: 'copy' })).toBeInstanceOf(Function);
  expect(await admit({ queued: 0 })).toBeInstanceOf(Function);
  for (const purpose of ['alone', 'run'] as const) {
    const done = await admit(tight, { sessionId: session.id, purpose });
    expect(done).toBeInstanceOf(Function);
    if (typeof done !== 'string') done();
  }
  await session.begin({ ...ANN, messages: [userMessage('u2')], policy: 'queue' });
  await owners.fold(session.id);
  const again = { sessionId: session.id };
  expect(await admit(tight, { ...again, purpose: 'alone' })).toBeInstanceOf(Function);
  expect(await admit(tight, again)).toBe('queued');
});

it('ended runs that still count are found before a run is refused', async () => {
  const { admit, session, owners } = open();
  const { runId } = await session.newRun(ANN);
  await owners.fold(session.id);
  await session.end(runId, 'completed');
  expect(await admit({ runs: 1 })).toBeInstanceOf(Function);
});

it('a conversation that is not yet among those of its owner counts as one that is there', async () => {
  const { admit, session, drive: driveOf, owners } = open();
  await driveOf('another').begin(ANN);
  await owners.fold('another');
  const { runId } = await session.newRun(ANN);
  await session.end(runId, 'completed');
  const limits = { sessions: 1 };
  expect(await admit(limits, { sessionId: session.id })).toBeInstanceOf(Function);
  expect(await admit(limits)).toBe('sessions');
});

it('an owner at the storage limit is refused however little is added', async () => {
  expect(await open().admit({ bytes: 0 })).toBe('bytes');
});
