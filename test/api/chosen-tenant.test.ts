import { toStoredSessionId } from '../../ai-sdk/index.js';
import { inTenant, toActor, type Identity } from '../../api/identity.js';
import { createMemoryStores, type MemoryStores } from '../../store/memory/index.js';
import { drive } from '../support/session-driver.js';
import { startApi, startOnMemory, type ApiServer } from './api-server.js';

const olga: Identity = { userId: 'olga', tenantId: 'ops', roles: ['operator'] };
const refusalOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

it('the tenant on which an operator acts is one of those that the identity names, under a name that no user of it has', () => {
  const wide = { ...olga, tenants: ['acme', 'rival'] };
  const userId = 'other-tenant:ops|olga';
  expect(inTenant(wide, 'acme')).toEqual({ ...wide, tenantId: 'acme', userId });
  expect(inTenant({ ...olga, tenants: ['*'] }, 'any').tenantId).toBe('any');
  expect(inTenant(wide, 'ops')).toBe(wide);
  for (const tenant of ['other', '', '*', undefined]) {
    expect(refusalOf(() => inTenant(wide, tenant))).toBe('not_allowed');
  }
  expect(refusalOf(() => inTenant({ ...olga, tenants: ['*'] }, '*'))).toBe('not_allowed');
  expect(refusalOf(() => inTenant(olga, 'acme'))).toBe('not_allowed');
});

it('an act names its person, also where two accounts are one', () => {
  const request = { get: () => 'cli' } as unknown as Parameters<typeof toActor>[0]['request'];
  const { userId: by, roles } = olga;
  const actor = { by, roles, personId: 'p1', via: 'cli' };
  expect(toActor({ request, caller: { ...olga, personId: 'p1' } })).toEqual(actor);
});

it('a conversation knows who asks by its messages, also where two accounts are one', async () => {
  const { userId, tenantId, roles } = olga;
  const caller = { ...olga, tenants: ['acme'], personId: 'p1' };
  const server = await startOnMemory({ authenticate: () => caller });
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
  // A chat belongs to the own tenant, whichever one an operator has chosen.
  const chosen = { 'x-helix-tenant': 'acme' };
  const reply = await server.post('/api/chat/mine', { agent: 'tester', message }, chosen);
  await reply.body?.cancel();
  const id = toStoredSessionId('mine', 'ops');
  const { askers } = (await server.stores.store.sessions.read(id)) ?? {};
  expect(askers).toEqual([{ userId, tenantId, roles, personId: 'p1' }]);
});

it.each([
  ['a%20b', 200],
  ['%', 403],
  ['', 403],
  ['t'.repeat(257), 403],
])('a tenant chosen as "%s" is answered with %d', async (chosen, status) => {
  const server = await startApi({ authenticate: () => ({ ...olga, tenants: ['*'] }) });
  const reply = await server.get('/api/operator/audit', { 'x-helix-tenant': chosen });
  expect(reply.status).toBe(status);
});

describe('an operator of another tenant beside a user called <tenant>|<user>', () => {
  let api: ApiServer;
  let stores: MemoryStores;

  async function start(roles: Identity['roles']): Promise<(path: string) => Promise<Response>> {
    stores = createMemoryStores();
    const session = drive(stores, toStoredSessionId('mine', 'acme'));
    await session.begin({ owner: 'auth0|123', tenant: 'acme' });
    api = await startApi({
      stores,
      allowUnauthenticated: false,
      authenticate: (request) => {
        const userId = request.get('x-user') ?? '';
        return { userId, tenantId: 'auth0', tenants: ['acme'], roles };
      },
    });
    return (path) => api.get(path, { 'x-user': '123', 'x-helix-tenant': 'acme' });
  }

  it('owns nothing of that user: a read is recorded', async () => {
    const send = await start(['viewer']);
    expect((await send('/api/operator/sessions/mine')).status).toBe(200);
    const { entries } = await stores.store.audit.page('acme', { limit: 10 });
    expect(entries.map(({ entry, name }) => [entry.action, name])).toEqual([
      ['read', 'other-tenant:auth0|123'],
    ]);
  });

  it('owns nothing of that user: without a role the conversation does not exist', async () => {
    const send = await start([]);
    expect((await send('/api/operator/sessions/mine')).status).toBe(404);
  });

  it('no user may have such a name', async () => {
    await start(['viewer']);
    const reply = await api.get('/api/operator/sessions/mine', {
      'x-user': 'other-tenant:ops|olga',
    });
    expect(reply.status).toBe(401);
  });
});
