import { defineAgent, type AgentDefinition } from '../../agents/index.js';
import { createApi, type ApiOptions } from '../../extensions/api.js';
import { listen } from '../../api/listen.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { say } from './api-server.js';

const helper = defineAgent({
  name: 'helper',
  systemPrompt: 'Help.',
  llmConfig: { model: fakeModel(() => parts.text('hi')) },
});

/** An app of no more than an executor, stores, agents and who asks. */
async function startApi(agents: ApiOptions['agents'], ping: () => Promise<void>): Promise<string> {
  const stores = createMemoryStores();
  const runs = createIdleRuns(stores, { agents: agents as AgentDefinition[] });
  const checks = { temporal: () => Promise.resolve(), worker: () => Promise.resolve() };
  const app = createApi({
    executor: { runs, namespace: 'ours', checks },
    stores: { ...stores, ping },
    agents,
    authenticate: () => ({ userId: 'ann' }),
  });
  const server = await listen(app, 0, '127.0.0.1');
  atEndOfFile(server.close);
  return `http://127.0.0.1:${String(server.port)}`;
}

async function post(url: string): Promise<Response> {
  return fetch(`${url}/api/chat/first`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [say('u1', 'hello')] }),
  });
}

it('a single agent answers messages that name none', async () => {
  const url = await startApi([helper], () => Promise.resolve());
  const response = await post(url);
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

it('a message must name one of several agents', async () => {
  const other = defineAgent({ ...helper, name: 'other' });
  const response = await post(await startApi([helper, other], () => Promise.resolve()));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'agent_required' });
});

it('readiness asks the stores, Temporal and a worker', async () => {
  let isAway = false;
  const url = await startApi([helper], () =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(),
  );
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ok', checks: { redis: 'ok', temporal: 'ok', worker: 'ok' } },
  ]);
  isAway = true;
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
});

it('links into the Temporal UI use the namespace of the executor', async () => {
  const url = await startApi([helper], () => Promise.resolve());
  const config: unknown = await (await fetch(`${url}/api/config`)).json();
  expect(config).toMatchObject({ namespace: 'ours', defaultAgent: 'helper' });
});

it('metrics, the OpenAPI document and the routes for programs are there without extensions', async () => {
  const url = await startApi([helper], () => Promise.resolve());
  const { paths } = (await (await fetch(`${url}/api/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/metrics', '/api/agent/start']));
  // For callers with a role.
  expect((await fetch(`${url}/metrics`)).status).toBe(403);
  expect((await fetch(`${url}/api/agent/start`, { method: 'POST' })).status).toBe(400);
});
