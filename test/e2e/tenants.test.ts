import { SignJWT } from 'jose';
import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { Conversations } from '../../protocol/http.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const SECRET = 'a secret of thirty-two bytes, at least';
const env = {
  JWT_SECRET: SECRET,
  LAB: '1',
  DEFAULT_AGENT: 'lab',
  METRICS_PORT: '0',
};
const product = useProduct({ env });

/** Requests of one user to one session. */
async function signIn(tenant: string, sessionId: string) {
  const token = await new SignJWT({ sub: 'ann', tenant_id: tenant })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(SECRET));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `${product.url}/api/chat/${sessionId}`;
  const read = async (path: string): Promise<Response> => fetch(url + path, { headers });
  const send = async (path: string, body: object, method = 'POST'): Promise<Response> =>
    fetch(url + path, { method, headers, body: JSON.stringify(body) });
  const say = async (id: string, script: object[]): Promise<string> => {
    const message = { id, role: 'user', content: JSON.stringify({ script }) };
    return (await send('', { message })).text();
  };
  const snapshot = async (): Promise<Snapshot> => (await read('/snapshot')).json() as never;
  /** Ids of all conversations that the user has. */
  const listed = async (): Promise<string[]> => {
    const reply = await fetch(`${product.url}/api/conversations`, { headers });
    const { conversations } = (await reply.json()) as Conversations;
    return conversations.map(({ sessionId }) => sessionId);
  };
  return { read, send, say, snapshot, listed };
}

interface Snapshot {
  status: string;
  messages: unknown[];
  pending: { toolCallId: string; approvalId: string }[];
}

const charge = { calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] };

describe('two tenants whose users choose the same id', () => {
  it('two tenants whose users choose the same id have a conversation each, from the first message to the erasure', async () => {
    const id = newSessionId();
    const acme = await signIn('acme', id);
    const other = await signIn('other', id);
    expect(await acme.say('u1', [charge, { say: 'charged' }])).toContain('tool-approval-request');
    // The same id, and the same id of a message, say nothing of each other.
    expect((await other.read('/snapshot')).status).toBe(404);
    expect(await other.say('u1', [{ say: 'hello' }])).toContain('[DONE]');
    expect(await other.snapshot()).toMatchObject({ status: 'ended', pending: [] });
    const strange = await other.send('/pending/c1', { approved: true });
    expect(await strange.json()).toMatchObject({ code: 'not_pending' });

    const paused = await acme.snapshot();
    expect(paused).toMatchObject({ status: 'paused', pending: [{ toolCallId: 'c1' }] });
    const answered = await acme.send('/pending/c1', { approved: true });
    expect([answered.status, answered.headers.get('x-session-id')]).toEqual([202, id]);
    await until('the run has ended', async () => (await acme.snapshot()).status === 'ended');
    expect(JSON.stringify(await acme.snapshot())).toContain('"charged"');

    const branch = await acme.send('/branch', { sessionId: `${id}-copy` });
    expect([branch.status, await branch.json()]).toMatchObject([201, { sessionId: `${id}-copy` }]);
    const stored = await product.redis.keys('hx:{*}:root');
    const ofTenant = (tenant: string, name: string): string =>
      `hx:{${toStoredSessionId(name, tenant)}}:root`;
    expect(stored.sort()).toEqual(
      [ofTenant('acme', id), ofTenant('acme', `${id}-copy`), ofTenant('other', id)].sort(),
    );

    expect((await acme.listed()).sort()).toEqual([id, `${id}-copy`]);
    expect(await other.listed()).toEqual([id]);
    expect((await acme.send('', {}, 'DELETE')).status).toBe(204);
    expect(await acme.listed()).toEqual([`${id}-copy`]);
    expect(await other.listed()).toEqual([id]);
    expect((await acme.read('/snapshot')).status).toBe(404);
    expect(await other.snapshot()).toMatchObject({ status: 'ended' });
  });

  it('approve their own calls in the chat, by ids that carry the tenant', async () => {
    const id = newSessionId();
    const acme = await signIn('acme', id);
    await acme.say('u1', [charge, { say: 'charged' }]);
    const [asked] = (await acme.snapshot()).pending;
    expect(asked?.approvalId).toContain(`${toStoredSessionId(id, 'acme')}:1-`);
    const part = {
      type: 'dynamic-tool',
      toolName: 'charge',
      toolCallId: 'c1',
      state: 'approval-responded',
      input: { amount: 5 },
      approval: { id: asked?.approvalId, approved: true },
    };
    const copy = { id: 'msg-1', role: 'assistant', parts: [{ type: 'step-start' }, part] };
    const reply = await (await acme.send('', { messages: [copy] })).text();
    expect(reply).toContain('charged');
  });
});

describe('a server whose metrics have a port of their own', () => {
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
});
