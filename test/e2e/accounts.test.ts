import type { FrontendSnapshot } from '../../protocol/replies.js';
import { SECRET, signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const APP = 'https://app.test';
const REQUESTS = 20;
/** Tokens are required even with HELIX_ALLOW_UNAUTHENTICATED, which the test product always sets. */
const product = useProduct({
  api: {
    JWT_SECRET: SECRET,
    JWT_AUDIENCE: 'chat',
    JWT_COOKIE: 'token',
    CORS_ORIGINS: APP,
    MAX_REQUESTS_PER_MINUTE: String(REQUESTS),
    METRICS_PORT: '0',
    DEFAULT_AGENT: 'lab',
    LAB: '1',
    BUSY_POLICY: 'queue',
    QUOTA_RUNS: '2',
  },
});

/** Returns the requests that one user makes to one session. */
async function signIn(sub: string, sessionId: string) {
  const authorization = await signToken(sub, undefined, [], { aud: 'chat' });
  const headers = { authorization, 'content-type': 'application/json' };
  const url = `${product.url}/api/chat/${sessionId}`;
  const send = (path: string, body: object): Promise<Response> =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    send,
    post: (content: string): Promise<Response> =>
      send('', { message: { id: `u-${newSessionId()}`, role: 'user', content } }),
    snapshot: async (): Promise<FrontendSnapshot> =>
      (await fetch(`${url}/snapshot`, { headers })).json() as never,
  };
}

const script = (...steps: object[]): string => JSON.stringify({ script: steps });

describe('a server with accounts, by its settings', () => {
  it('a server with accounts serves callers with a token of its audience, their own sessions only', async () => {
    const id = newSessionId();
    const ann = await signIn('ann', id);
    const bob = await signIn('bob', id);
    expect(await (await ann.post('hi')).text()).toContain('data: [DONE]');
    expect((await bob.post('hi')).status).toBe(404);

    const get = async (headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${product.url}/api/chat/${id}/snapshot`, { headers });
    const other = await signToken('ann', undefined, [], { aud: 'shop' });
    for (const refused of [await get(), await get({ authorization: other })])
      expect(refused.status).toBe(401);
    const token = await signToken('ann', undefined, [], { aud: 'chat' });
    const cookie = { cookie: token.replace('Bearer ', 'token=') };
    const read = await get({ ...cookie, origin: APP });
    expect(read.status).toBe(200);
    expect(read.headers.get('access-control-allow-origin')).toBe(APP);
    const post = async (origin: string): Promise<number> => {
      const stop = await fetch(`${product.url}/api/chat/${id}/stop`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...cookie, origin },
        body: '{}',
      });
      return stop.status;
    };
    expect([await post('https://evil.test'), await post(APP)]).toEqual([401, 202]);
  });

  it('a server with accounts serves each of them within the rate limit', async () => {
    const carl = await signIn('carl', newSessionId());
    const statuses = [];
    for (let n = 0; n <= REQUESTS; n += 1) statuses.push((await carl.send('/stop', {})).status);
    expect(statuses.slice(-2)).toEqual([404, 429]);
    expect(await (await carl.send('/stop', {})).json()).toMatchObject({
      code: 'too_many_requests',
    });
    expect((await (await signIn('dora', newSessionId())).post('hi')).status).toBe(200);
  });

  it('a server with accounts shows its page and its health to everyone', async () => {
    for (const path of ['/', '/healthz', '/api/openapi.json']) {
      expect((await fetch(product.url + path)).status).toBe(200);
    }
    expect((await fetch(`${product.url}/api/config`)).status).toBe(401);
  });

  it('a server reports its metrics on the configured port, and not on its own', async () => {
    expect((await fetch(`${product.url}/api/config`)).status).toBe(401);
    expect((await fetch(`${product.url}/metrics`)).status).toBe(404);
    const { metricsPort } = (await product.apiSays('api listens')) as { metricsPort: number };
    const own = `http://127.0.0.1:${String(metricsPort)}`;
    expect(await (await fetch(`${own}/metrics`)).text()).toMatch(
      /helix_refusals_total\{code="unauthorized"\} [1-9]/,
    );
    for (const path of ['/', '/api/config']) {
      expect((await fetch(own + path)).status).toBe(404);
    }
  });

  it('BUSY_POLICY applies to messages that do not set their own policy', async () => {
    const ida = await signIn('ida', newSessionId());
    const first = await ida.post(script({ calls: [{ tool: 'sleep', args: { ms: 600_000 } }] }));
    const second = await ida.post('hello');
    expect([first.status, second.status]).toEqual([200, 200]);
    const message = { id: 'c', role: 'user', content: 'me too' };
    expect((await ida.send('?busy=reject', { message })).status).toBe(409);
    expect((await ida.snapshot()).queue).toHaveLength(1);
    await ida.send('/stop', {});
    await until('what was queued is answered', async () =>
      JSON.stringify(await ida.snapshot()).includes('You said'),
    );
    await first.body?.cancel();
    await second.body?.cancel();
  });
});

it('QUOTA_RUNS bounds the runs of a user, who learns why no more start', async () => {
  const as = () => signIn('gus', newSessionId());
  const hangs = script({ say: 'Hm.', hangMs: 600_000 });
  const [first, second, third] = [await as(), await as(), await as()];
  const open = [await first.post(hangs), await second.post(hangs)];
  expect(open.map(({ status }) => status)).toEqual([200, 200]);
  const refused = await third.post('hello');
  const about = { what: 'runs', of: 'user', limit: 2, used: 2 };
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { code: 'quota_exceeded', detail: about },
  ]);
  for (const each of [first, second]) expect((await each.send('/stop', {})).status).toBe(202);
  await Promise.all(open.map((reply) => reply.text()));
});
