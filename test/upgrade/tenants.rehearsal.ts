import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';
import { startDeployment, type Deployment, type Side } from './support/deployment.js';

const JWT_SECRET = 'a secret of thirty-two bytes, at least';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ JWT_SECRET, LAB: '1', DEFAULT_AGENT: 'lab' });
});
afterAll(() => deployment.close());

async function signIn(): Promise<Record<string, string>> {
  const token = await new SignJWT({ sub: 'ann', tenant_id: 'acme' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(JWT_SECRET));
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

const script = (...entries: object[]): string => JSON.stringify({ script: entries });
const charge = { calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] };

describe('a rolling upgrade from release 0.2.0, with tenants', () => {
  it('an id has one conversation, whichever release is asked', async () => {
    const headers = await signIn();
    const say = async (at: Side, id: string, message: object): Promise<string> => {
      const body = JSON.stringify({ message: { role: 'user', ...message } });
      return (await fetch(`${at.url}/api/chat/${id}`, { method: 'POST', headers, body })).text();
    };
    const snapshot = async (at: Side, id: string): Promise<{ status: string; messages: [] }> => {
      const response = await fetch(`${at.url}/api/chat/${id}/snapshot`, { headers });
      expect(response.status).toBe(200);
      return (await response.json()) as never;
    };
    const approve = async (at: Side, id: string): Promise<void> => {
      const url = `${at.url}/api/chat/${id}/pending/c1`;
      const body = JSON.stringify({ approved: true });
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202);
      const hasEnded = async (): Promise<boolean> => (await snapshot(at, id)).status === 'ended';
      await until('the run has ended', hasEnded, 60_000);
    };

    const former = await deployment.start('former');
    const today = await deployment.start('today');
    const asked = script(charge, { say: 'charged' });
    for (const [one, other] of [
      [former, today],
      [today, former],
    ] as const) {
      const id = newSessionId();
      expect(await say(one, id, { id: 'u1', content: asked })).toContain('tool-approval-request');
      await approve(other, id);
      for (const at of [other, one]) {
        const reply = await say(at, id, { id: at === one ? 'u3' : 'u2', content: 'hello' });
        expect(reply).toContain('[DONE]');
      }
      for (const at of [one, other]) expect((await snapshot(at, id)).messages).toHaveLength(6);
      expect(await deployment.redis.keys(`hx:{*${id}}:root`)).toEqual([`hx:{${id}}:root`]);
    }

    // What the former release has begun is there when it is gone.
    const id = newSessionId();
    await say(former, id, { id: 'u1', content: asked });
    await former.stop();
    await approve(today, id);
    expect((await snapshot(today, id)).messages).toHaveLength(2);
  }, 240_000);
});
