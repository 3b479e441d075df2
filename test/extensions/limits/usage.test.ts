import type { Identity } from '../../../api/identity.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { AGENT, drive } from '../../support/session-driver.js';
import { untilDayLasts } from '../../support/until.js';
import { startApi, type ApiServer } from '../../api/api-server.js';

let api: ApiServer;

/** Starts an API over ended runs of two users of acme and one of another tenant. */
async function startFor(caller: Partial<Identity>): Promise<ApiServer> {
  await untilDayLasts();
  const { store, streamManager } = createMemoryStores();
  for (const [owner, tenant, model] of [
    ['ann', 'acme', 'fast'],
    ['ann', 'acme', 'fast'],
    ['ann', 'acme', 'slow'],
    ['bob', 'acme', 'fast'],
    ['eve', 'other', 'fast'],
  ] as const) {
    const session = drive({ store, stream: streamManager } as never);
    const begun = await session.newRun({ owner, tenant });
    const writer = session.writer(begun.runId, 1, 1);
    await session.claim(writer);
    const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 7 };
    await session.commit(writer, { usage, model });
    await store.owners.fold(session.id);
  }
  const authenticate = () => ({ userId: 'ann', tenantId: 'acme', ...caller });
  api = await startApi({ stateStore: store, streamManager, authenticate });
  return api;
}

const read = async (path = ''): Promise<[number, { usage: object[] }]> => {
  const reply = await api.get(`/api/operator/usage${path}`);
  return [reply.status, (await reply.json()) as { usage: object[] }];
};

describe('usage over HTTP', () => {
  it('sums are grouped as asked, of the caller’s tenant alone', async () => {
    await startFor({ roles: ['viewer'] });
    const [status, { usage }] = await read();
    expect([status, usage.length]).toEqual([200, 3]);
    const today = new Date().toISOString().slice(0, 10);
    const [, { usage: days, ...window }] = await read('?by=day,agent');
    expect(window).toEqual({ since: `${today.slice(0, 8)}01`, until: today });
    expect(days).toMatchObject([{ day: today, agent: AGENT, runs: 4 }]);
    expect((await read('?by=owner'))[1].usage).toEqual([
      { owner: 'ann', runs: 3, inputTokens: 30, outputTokens: 15, costMicroUsd: 21 },
      { owner: 'bob', runs: 1, inputTokens: 10, outputTokens: 5, costMicroUsd: 7 },
    ]);
    expect((await read('?by=model'))[1].usage).toMatchObject([
      { model: 'fast', runs: 3 },
      { model: 'slow', runs: 1 },
    ]);
    expect((await read('?by=tenant,model'))[1].usage).toMatchObject([
      { tenant: 'acme', model: 'fast', runs: 3 },
      { tenant: 'acme', model: 'slow', runs: 1 },
    ]);
  });

  it('days without runs have no sums', async () => {
    await startFor({ roles: ['operator'] });
    expect(await read('?since=2020-01-01&until=2020-01-31')).toEqual([
      200,
      { since: '2020-01-01', until: '2020-01-31', usage: [] },
    ]);
  });

  it.each([
    ['?by=tenants', 400],
    ['?since=yesterday', 400],
  ])('%s is refused', async (query, status) => {
    await startFor({ roles: ['viewer'] });
    expect((await read(query))[0]).toBe(status);
  });

  it('a user without a role is refused', async () => {
    await startFor({});
    expect((await read())[0]).toBe(403);
  });
});
