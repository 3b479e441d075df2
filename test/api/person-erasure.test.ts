import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { RunsOfSession } from '../../executor/erase-workflows.js';
import { HelixError } from '../../protocol/errors.js';
import { createMemoryStores, type MemoryStores } from '../../stores/memory/index.js';
import { drive, newCall, type SessionDriver } from '../support/session-driver.js';
import { IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { startOnMemory, type ApiServer } from './api-server.js';

const ANN = { owner: 'ann', tenant: 'acme' };

let stores: MemoryStores;
let api: ApiServer;
let session: SessionDriver;
let isAway: boolean;
let erased: RunsOfSession[];

beforeEach(async () => {
  [isAway, erased] = [false, []];
  stores = createMemoryStores();
  api = await startOnMemory({
    stores,
    runs: {
      workflows: {
        ...IDLE_WORKFLOWS,
        erase: async (_, found) => {
          if (isAway) throw new HelixError('unavailable', 'away');
          erased.push(found);
          return { deleted: 1, unknown: [] };
        },
      },
    },
    authenticate: () => ({ userId: 'ida', tenantId: 'acme', roles: ['operator'] }),
  });
  session = drive(stores, toStoredSessionId('mine', 'acme'));
  const begun = await session.begin(ANN);
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const { runId } = begun.run;
  await session.ask(runId, 1, [newCall('c1', 'approval')]);
  await stores.store.owners.fold(session.id);
});
afterEach(() => api.close());

async function erase(): Promise<{ status: number; complete?: boolean; conversations?: number }> {
  const response = await fetch(`${api.url}/api/operator/users/ann`, { method: 'DELETE' });
  return { status: response.status, ...((await response.json()) as object) };
}

it('is not complete while histories of an earlier request are left', async () => {
  isAway = true;
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 1 });
  // No conversation is listed any more.
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 0 });
  expect(await stores.store.erasures.pending(ANN)).toEqual([session.id]);
  isAway = false;
  expect(await erase()).toMatchObject({ status: 200, complete: true });
  expect(await stores.store.erasures.pending(ANN)).toEqual([]);
  expect(erased).toHaveLength(1);
});

it('names the calls whose work Temporal may not list yet', async () => {
  const runId = (await stores.store.sessions.read(session.id))?.runId;
  expect(await erase()).toMatchObject({ status: 200, complete: true });
  expect(erased).toMatchObject([{ runs: [runId], calls: [[runId, 'c1']] }]);
});
