import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { Role } from '../../protocol/actor.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import { createMemoryStores, type MemoryStores } from '../../stores/memory/index.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { drive, newCall } from '../support/session-driver.js';
import { startApi, type ApiServer } from './api-server.js';

let stores: MemoryStores;
let api: ApiServer;

beforeAll(async () => {
  stores = createMemoryStores();
  api = await startApi(
    { ...createFakeRuntime(), ...stores, stateStore: stores.store },
    {
      allowUnauthenticated: false,
      authenticate: (request) => {
        const [userId = '', tenantId = '', role = ''] = (request.get('x-user') ?? '').split('@');
        return { userId, tenantId, roles: role === '' ? [] : [role as Role] };
      },
    },
  );
  for (const id of ['mine', 'done']) {
    const session = drive(stores, toStoredSessionId(id, 'acme'));
    const begun = await session.begin({ owner: 'ann', tenant: 'acme' });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    if (id === 'mine') await session.ask(begun.run.runId, 1, [newCall('c1', 'approval')]);
  }
});
afterAll(() => api.close());

/** Status, and the code of a refusal or what may be decided. */
async function read(user: string, about = 'mine'): Promise<unknown[]> {
  const path = `/api/operator/waiting?session=${about}`;
  const response = await api.get(path, { 'x-user': user });
  const body = (await response.json()) as Partial<OperatorWaiting> & { code?: string };
  return [response.status, body.code ?? body.sessions?.map(({ pending }) => pending[0]?.mayDecide)];
}

it('what one conversation asks is read by its owner, by colleagues with a role, and by no one else', async () => {
  expect(await read('ann@acme')).toEqual([200, [true]]);
  expect(await read('col@acme@approver')).toEqual([200, [true]]);
  expect(await read('vera@acme@viewer')).toEqual([200, [false]]);
  expect(await read('ann@acme', 'done')).toEqual([200, []]);
  for (const user of ['col@acme', 'ann@other@operator', 'col@other@operator']) {
    expect(await read(user)).toEqual([404, 'not_found']);
  }
  expect(await read('col@acme@operator', 'unknown')).toEqual([404, 'not_found']);
  expect(await read('col@acme@operator', '../x')).toEqual([400, 'validation_error']);
});

it('that a colleague has read it is recorded', async () => {
  await read('rolf@acme@viewer');
  const { entries } = await stores.store.audit.page('acme', { limit: 10, action: 'read' });
  const readers = entries.map(({ entry, name }) => [name, entry.target.sessionId]);
  expect(readers).toContainEqual(['rolf', 'mine']);
  expect(readers.filter(([name]) => name === 'ann')).toEqual([]);
});
