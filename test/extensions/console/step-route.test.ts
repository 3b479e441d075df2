import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { conclude } from '../../../store/conformance/session/played-turns.js';
import type { MemoryStores } from '../../../store/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';
import { startOnMemory, type ApiServer } from '../../api/api-server.js';

/** A colleague inspects the steps of Ann's run. */
let stores: MemoryStores;
let api: ApiServer;
let run: string;

beforeEach(async () => {
  const server = await startOnMemory();
  [api, stores] = [server, server.stores];
  const session = drive(stores, toStoredSessionId('mine', 'acme'));
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme' });
  await session.ask(begun.runId, 1, [newCall('c1', 'approval')]);
  run = `/api/operator/runs/${encodeURIComponent(begun.runId)}`;
});

it('each read of a step is recorded', async () => {
  for (const user of ['ann', 'col']) {
    for (const path of ['/steps/1', '/steps/1']) {
      expect((await api.get(run + path, { 'x-user': `${user}@acme@viewer` })).status).toBe(200);
    }
  }
  const { entries } = await stores.store.audit.page('acme', { limit: 10, action: 'read' });
  expect(entries.map(({ name, entry }) => [name, entry.target.sessionId, entry.detail])).toEqual([
    ['col', 'mine', { what: 'getRunStep' }],
    ['col', 'mine', { what: 'getRunStep' }],
  ]);
});

it('a step that was never made does not exist, and a step is a number', async () => {
  const user = { 'x-user': 'col@acme@viewer' };
  expect((await api.get(`${run}/steps/2`, user)).status).toBe(404);
  expect((await api.get(`${run}/steps/x`, user)).status).toBe(400);
});

it('a step of a turn that was dropped does not exist any more', async () => {
  const session = drive(stores, toStoredSessionId('again', 'acme'));
  const dropped = await session.newRun({ owner: 'ann', tenant: 'acme' });
  await conclude(session, dropped, 1);
  const path = `/api/operator/runs/${encodeURIComponent(dropped.runId)}/steps/1`;
  const user = { 'x-user': 'col@acme@viewer' };
  expect((await api.get(path, user)).status).toBe(200);
  const again = await session.retry();
  expect((await api.get(path, user)).status).toBe(404);
  if (again.kind === 'rewound') await conclude(session, again.run, 1);
  expect((await api.get(path, user)).status).toBe(404);
});
