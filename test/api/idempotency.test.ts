import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { z } from 'zod';
import type { RouteDeps } from '../../api/deps.js';
import { listen } from '../../api/listen.js';
import { onceByKey } from '../../api/routes/idempotency.js';
import { defineRoute } from '../../api/routes/route.js';
import { HelixError } from '../../protocol/errors.js';
import type { AgentStarted } from '../../protocol/agent-server.js';
import type { Requests } from '../../store/contract/requests.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { changing } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { startApi } from './api-server.js';

/** A route that takes as long as the test wants, by key. */
const CLAIMED_MS = 600;

async function start(
  work: () => Promise<void>,
  {
    method = 'post',
    body = { done: true },
    status = 201,
    requestsOf = (own) => own,
  }: {
    method?: 'post' | 'delete';
    body?: object;
    status?: number;
    requestsOf?: (own: Requests) => Requests;
  } = {},
) {
  const { store } = createMemoryStores();
  const deps = {
    stateStore: { requests: requestsOf(store.requests) },
    readIdentity: (request: express.Request) => {
      const [userId = '', tenantId] = (request.get('x-user') ?? '').split('@');
      return Promise.resolve({ userId, ...(tenantId && { tenantId }) });
    },
  } as unknown as RouteDeps;
  const route = defineRoute({
    method,
    path: '/act',
    id: 'act',
    audits: 'none',
    summary: 'Act',
    replies: { 201: { description: 'Done.', content: { json: z.object({}) } } },
    handle: async ({ response }) => {
      await work();
      response.status(status).set('x-session-id', 's1').set('x-run-id', 's1:1-a').json(body);
    },
  });
  const once = onceByKey(route, CLAIMED_MS);
  const app = express();
  app.all(once.path, (request, response) => once.answer(deps, request, response));
  app.use(((error: { code: string }, _request, response, _next) => {
    response.status(409).json({ code: error.code });
  }) satisfies express.ErrorRequestHandler);
  const { port, close } = await listen(app, 0, '127.0.0.1');
  atEndOfFile(close);
  return async ({
    user = 'ann@acme',
    query = '',
    by = method,
    key = 'k1',
  }: { user?: string; query?: string; by?: string; key?: string } = {}) => {
    const headers = { 'idempotency-key': key, 'x-user': user };
    const url = `http://127.0.0.1:${String(port)}/act${query}`;
    const reply = await fetch(url, { method: by.toUpperCase(), headers });
    const names = ['x-session-id', 'x-run-id', 'cache-control'];
    const named = names.map((name) => reply.headers.get(name));
    return [reply.status, (await reply.json()) as object, ...named];
  };
}

it('a request that takes longer than its claim is not carried out a second time beside it', async () => {
  let count = 0;
  let finish: (() => void) | undefined;
  const send = await start(() => {
    count += 1;
    return new Promise((resolve) => (finish = resolve));
  });
  const first = send();
  await until('it is carried out', () => finish !== undefined);
  const begun = Date.now();
  await until('the first claim would be over', () => Date.now() - begun > 1.2 * CLAIMED_MS);
  const second = send();
  await until('the second is refused, or carried out too', async () => {
    if (count > 1) finish?.();
    return Promise.race([second, Promise.resolve(undefined)]);
  });
  finish?.();
  expect(await second).toEqual([409, { code: 'idempotency_conflict' }, null, null, null]);
  expect(count).toBe(1);
  expect((await first)[0]).toBe(201);
});

it('the claim of a request is not renewed any more once its reply is kept', async () => {
  const calls: string[] = [];
  const send = await start(() => sleep(CLAIMED_MS / 2), {
    requestsOf: (own) => ({
      ...own,
      renew: (...claim) => {
        calls.push('renew');
        return own.renew(...claim);
      },
      settle: async (...reply) => {
        calls.push('settle');
        await own.settle(...reply);
        await sleep(CLAIMED_MS / 2);
      },
    }),
  });
  await send();
  expect(calls).toEqual(['renew', 'settle']);
});

it('a reply that is given again names the session and the run, and is not cached', async () => {
  const send = await start(() => Promise.resolve());
  const first = await send();
  expect(first).toEqual([201, { done: true }, 's1', 's1:1-a', 'no-store']);
  expect(await send()).toEqual(first);
});

it('a request that was refused may be sent again with its key', async () => {
  const refusals = [new HelixError('unavailable', 'The store is away.')];
  const send = await start(async () => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
  });
  expect((await send())[1]).toEqual({ code: 'unavailable' });
  expect((await send())[0]).toBe(201);
});

it.each([{}, { sessionId: 's1' }])(
  'a start whose reply was lost is repeated with its key: the same run',
  async (named) => {
    const opened = createMemoryStores();
    let isLost = true;
    const store = changing(opened.store, (changes) => {
      const begin: typeof changes.runs.begin = async (...input) => {
        const begun = await changes.runs.begin(...input);
        if (isLost) throw new HelixError('unavailable', 'Redis is away.');
        return begun;
      };
      return { ...changes, runs: { ...changes.runs, begin } };
    });
    const api = await startApi({ stores: { ...opened, store } });
    const send = () =>
      api.post(
        '/api/agent/start',
        { agent: 'lab', message: 'Hello', ...named },
        { 'idempotency-key': 'k1' },
      );
    expect((await send()).status).toBe(503);
    isLost = false;
    const { sessionId, runId } = (await (await send()).json()) as AgentStarted;
    expect(await opened.store.runs.list(sessionId)).toEqual([expect.objectContaining({ runId })]);
    const { conversations } = await opened.store.owners.page({ owner: 'anonymous' }, { limit: 9 });
    expect(conversations).toHaveLength(1);
  },
);

it.each([
  ['another user', { user: 'bob@acme' }],
  ['one of the same name in another tenant', { user: 'ann@other' }],
  ['one of the same name in no tenant', { user: 'ann' }],
  ['another target', { query: '?of=2' }],
  ['another method', { by: 'patch' }],
])('the same key of %s has nothing to do with it', async (_, other) => {
  let count = 0;
  const send = await start(() => {
    count += 1;
    return Promise.resolve();
  });
  await send();
  expect((await send(other))[0]).toBe(201);
  expect(count).toBe(2);
});

it.each(['', 'a b', 'k'.repeat(257)])('a key like "%s" is refused', async (key) => {
  const send = await start(() => Promise.resolve());
  expect((await send({ key }))[1]).toEqual({ code: 'validation_error' });
  expect((await send({ key: 'k'.repeat(256) }))[0]).toBe(201);
});

it('what is kept of an erasure names neither the conversation nor who asked', async () => {
  const erased = { sessionId: 's1', by: 'ann', complete: true };
  const send = await start(() => Promise.resolve(), { method: 'delete', body: erased });
  expect((await send())[1]).toEqual(erased);
  expect(await send()).toEqual([201, { complete: true }, null, null, 'no-store']);
});

it('an erasure that is not complete is carried out again, and one that is complete is not', async () => {
  let count = 0;
  const work = () => {
    count += 1;
    return Promise.resolve();
  };
  for (const status of [202, 200]) {
    const send = await start(work, { method: 'delete', status });
    expect((await send())[0]).toBe(status);
    expect((await send())[0]).toBe(status);
  }
  expect(count).toBe(3);
});
