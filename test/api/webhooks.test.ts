import express from 'express';
import { listen } from '../../api/listen.js';
import { createWebhookRate } from '../../api/middleware/limits.js';
import { HelixError } from '../../protocol/errors.js';
import { startOnMemory, type ApiServer } from './api-server.js';

const PATH = '/api/hooks/token-1';

let api: ApiServer;

/** An app whose tools wait for webhooks, and for which every caller is a stranger. */
async function serve(
  callWebhook: (token: string, payload: unknown) => Promise<void>,
): Promise<ApiServer> {
  api = await startOnMemory({ instead: { callWebhook } });
  return api;
}

async function read(reply: Response): Promise<[number, string | undefined]> {
  const { status, code } = (await reply.json()) as { status?: string; code?: string };
  return [reply.status, status ?? code];
}

describe('a webhook', () => {
  it('takes any JSON, also none, from any address and without an account', async () => {
    const taken: unknown[] = [];
    const { post, url } = await serve((token, payload) => {
      taken.push([token, payload]);
      return Promise.resolve();
    });
    const elsewhere = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    expect(await read(await post(PATH, { a: [1] }, elsewhere))).toEqual([200, 'accepted']);
    expect(await read(await post(PATH, '2', { 'content-type': 'text/plain' }))).toEqual([
      200,
      'accepted',
    ]);
    expect(await read(await fetch(url + PATH, { method: 'POST' }))).toEqual([200, 'accepted']);
    expect(taken).toEqual([
      ['token-1', { a: [1] }],
      ['token-1', 2],
      ['token-1', null],
    ]);
  });

  it('refuses by name, and what it refuses never reaches a tool', async () => {
    const codes = ['not_found', 'webhook_closed', 'invalid_result'] as const;
    let called = 0;
    const { post } = await serve(() => {
      const code = codes[called];
      called += 1;
      return Promise.reject(new HelixError(code ?? 'internal_error', 'No.'));
    });
    for (const [at, status] of [404, 410, 400].entries()) {
      expect(await read(await post(PATH, {}))).toEqual([status, codes[at]]);
    }
    expect(await read(await post(PATH, '{"a"'))).toEqual([400, 'validation_error']);
    expect(await read(await post(PATH, `${'['.repeat(501)}${']'.repeat(501)}`))).toEqual([
      400,
      'validation_error',
    ]);
    expect(await read(await post(PATH, JSON.stringify('x'.repeat(262_144))))).toEqual([
      413,
      'body_too_large',
    ]);
    expect(called).toBe(3);
  });

  it('is limited by address', async () => {
    const { post } = await serve(() => Promise.resolve());
    const { headers } = await post(PATH, {});
    const [limit, left] = ['limit', 'remaining'].map((name) => headers.get(`ratelimit-${name}`));
    expect([limit, left]).toEqual(['600', '599']);
    const app = express().post('/', createWebhookRate(1), (_request, response) => {
      response.end();
    });
    const server = await listen(app, 0, '127.0.0.1');
    atEndOfFile(server.close);
    const send = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${String(server.port)}`, { method: 'POST' });
    expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
  });
});
