import type { Identity } from '../../api/identity.js';
import type { HealthFacts } from '../../protocol/health.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { startApi, type ApiServer } from './api-server.js';

let api: ApiServer | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const FACTS: HealthFacts = {
  periodMs: 0,
  queues: undefined,
  record: {
    workers: 1,
    sweptMs: 0,
    counts: {},
    week: [],
    waiting: { count: 0, oldestMs: undefined },
    paused: { agents: [], held: 0 },
  },
};

/** The reply to this caller; without one there are no accounts. */
async function ask(caller?: object, path = ''): Promise<Response> {
  const runtime = createFakeRuntime();
  const readHealth = (periodMs: number): Promise<HealthFacts> =>
    Promise.resolve({ ...FACTS, periodMs });
  const authenticate =
    caller === undefined ? undefined : () => ({ userId: 'ann', ...caller }) as Identity;
  const executor = { ...runtime.executor, readHealth };
  api = await startApi(runtime, { executor, ...(authenticate && { authenticate }) });
  return api.get(`/api/operator/health${path}`);
}

describe('the verdict over HTTP', () => {
  it.each([['viewer'], ['approver'], ['operator']])('a %s gets it', async (role) => {
    const reply = await ask({ roles: [role] });
    expect([reply.status, await reply.json()]).toMatchObject([200, { verdict: 'bad' }]);
  });

  it.each([
    ['without a role', {}],
    ['without any of the roles', { roles: [] }],
    ['of a tenant, since the facts are of all tenants', { roles: ['operator'], tenantId: 'acme' }],
  ])('a user %s learns nothing', async (_what, caller) => {
    const reply = await ask(caller);
    expect(reply.status).toBe(403);
    expect(await reply.text()).not.toContain('"flow"');
  });

  it('without accounts everybody is the one user, who may ask', async () => {
    expect((await ask()).status).toBe(200);
  });
});
