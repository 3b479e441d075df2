import { SignJWT } from 'jose';
import type { Conversations, ProblemBody } from '../../protocol/http.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const SECRET = 'a secret of thirty-two bytes, at least';
const product = useProduct({
  env: {
    JWT_SECRET: SECRET,
    JWT_TENANT_CLAIM: 'tenant',
    LAB: '1',
    DEFAULT_AGENT: 'lab',
    QUOTA_RUNS: '2',
    QUOTA_MB: '1',
  },
});

async function as(sub: string): Promise<Record<string, string>> {
  const token = await new SignJWT({ sub, tenant: 'acme' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(SECRET));
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

const script = (...entries: object[]): string => JSON.stringify({ script: entries });
const HANGS = script({ say: 'Hm.', hangMs: 600_000 });

async function post(user: string, path: string, body: object): Promise<Response> {
  return fetch(`${product.url}/api/chat/${path}`, {
    method: 'POST',
    headers: await as(user),
    body: JSON.stringify(body),
  });
}

function say(user: string, id: string, content: string): Promise<Response> {
  return post(user, id, { message: { id: `u-${newSessionId()}`, role: 'user', content } });
}

async function list(user: string): Promise<Conversations['conversations']> {
  const reply = await fetch(`${product.url}/api/conversations`, { headers: await as(user) });
  return ((await reply.json()) as Conversations).conversations;
}

async function erase(user: string, id: string): Promise<number> {
  const reply = await fetch(`${product.url}/api/chat/${id}`, {
    method: 'DELETE',
    headers: await as(user),
  });
  return reply.status;
}

describe('a server with accounts', () => {
  it('a user starts a number of runs, learns why no more start, and starts one when another ends', async () => {
    const ids = [newSessionId(), newSessionId(), newSessionId()] as const;
    const open = [await say('ann', ids[0], HANGS), await say('ann', ids[1], HANGS)];
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await say('ann', ids[2], 'hello');
    expect(refused.status).toBe(429);
    expect((await refused.json()) as ProblemBody).toEqual({
      error: expect.stringContaining('2 answers are being written'),
      code: 'quota_exceeded',
      detail: { what: 'runs', of: 'user', limit: 2, used: 2 },
    });
    expect(await (await say('bob', newSessionId(), 'hello')).text()).toContain('[DONE]');
    expect((await list('ann')).map(({ sessionId }) => sessionId)).toEqual([ids[1], ids[0]]);

    expect((await post('ann', `${ids[0]}/stop`, {})).status).toBe(202);
    await open[0]?.text();
    const begun = await until('a run may begin', async () => {
      const reply = await say('ann', ids[2], 'hello');
      return reply.status === 200 && reply;
    });
    expect(await begun.text()).toContain('[DONE]');
    expect(await list('ann')).toContainEqual(
      expect.objectContaining({ sessionId: ids[2], title: 'hello', status: 'completed' }),
    );
    expect(await erase('ann', ids[1])).toBe(204);
    await open[1]?.text().catch(() => undefined);
    expect((await list('ann')).map(({ sessionId }) => sessionId)).not.toContain(ids[1]);
  });

  it('a user stores a number of bytes, copies included, and an erased session makes room', async () => {
    const id = newSessionId();
    expect(await (await say('cem', id, 'x'.repeat(400_000))).text()).toContain('[DONE]');
    // The reply of this agent quotes the message, so this is most of it.
    const copies: string[] = [];
    const refused = await until('it is full', async () => {
      const reply = await post('cem', `${id}/branch`, {});
      if (reply.status !== 201) return reply;
      copies.push(((await reply.json()) as { sessionId: string }).sessionId);
      return undefined;
    });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: 'quota_exceeded',
      detail: { what: 'bytes', of: 'user', limit: 1024 * 1024 },
    });
    expect(copies.length).toBeLessThan(3);
    const used = Number(await product.redis.hget('hx:owner:{t:acme}:u:cem:usage', 'bytes'));
    expect(used).toBeLessThanOrEqual(1024 * 1024);
    for (const each of [id, ...copies]) expect(await erase('cem', each)).toBe(204);
    expect(await (await say('cem', newSessionId(), 'x'.repeat(400_000))).text()).toContain(
      '[DONE]',
    );
  });
});
