import { SignJWT } from 'jose';
import { newSessionId, useProduct } from '../support/product.js';

const SECRET = 'a secret of thirty-two bytes, at least';
const APP = 'https://app.test';
/** Tokens are required even with HELIX_ALLOW_UNAUTHENTICATED, which the test product always sets. */
const product = useProduct({
  env: {
    JWT_SECRET: SECRET,
    JWT_AUDIENCE: 'chat',
    JWT_COOKIE: 'token',
    CORS_ORIGINS: APP,
    MAX_REQUESTS_PER_MINUTE: '4',
    DEFAULT_AGENT: 'lab',
    LAB: '1',
  },
});

async function tokenOf(sub: string, audience = 'chat'): Promise<string> {
  return new SignJWT({ sub })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(audience)
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(SECRET));
}

async function post(id: string, headers: Record<string, string>): Promise<[number, string]> {
  const response = await fetch(`${product.url}/api/chat/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } }),
  });
  return [response.status, await response.text()];
}

describe('a server with accounts, by its settings', () => {
  it('a server with accounts serves callers with a token, their own sessions only, within the rate limit', async () => {
    const id = newSessionId();
    const ann = { authorization: `Bearer ${await tokenOf('ann')}` };
    const bob = { authorization: `Bearer ${await tokenOf('bob')}` };
    const other = { authorization: `Bearer ${await tokenOf('ann', 'shop')}` };
    for (const headers of [{}, other]) expect((await post(id, headers))[0]).toBe(401);
    const [status, text] = await post(id, ann);
    expect([status, text]).toEqual([200, expect.stringContaining('data: [DONE]')]);
    expect((await post(id, bob))[0]).toBe(404);

    const cookie = { cookie: `token=${await tokenOf('ann')}` };
    const read = await fetch(`${product.url}/api/chat/${id}/snapshot`, {
      headers: { ...cookie, origin: APP },
    });
    expect(read.status).toBe(200);
    expect(read.headers.get('access-control-allow-origin')).toBe(APP);
    expect((await post(id, { ...cookie, origin: 'https://evil.test' }))[0]).toBe(401);
    expect((await post(id, { ...cookie, origin: APP }))[0]).toBe(200);

    for (let n = 0; n < 2; n += 1) expect((await post(id, ann))[0]).toBe(200);
    expect(await post(id, ann)).toEqual([429, expect.stringContaining('too_many_requests')]);
    expect((await post(newSessionId(), bob))[0]).toBe(200);
  });

  it('a server with accounts shows its page and its health to everyone', async () => {
    for (const path of ['/', '/healthz', '/api/openapi.json']) {
      expect((await fetch(product.url + path)).status).toBe(200);
    }
    for (const path of ['/api/config', '/metrics']) {
      expect((await fetch(product.url + path)).status).toBe(401);
    }
  });
});
