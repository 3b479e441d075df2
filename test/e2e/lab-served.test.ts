import { SignJWT } from 'jose';
import { isLabServed } from '../../examples/index.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, useProduct } from '../support/product.js';

const SECRET = 'a secret of thirty-two bytes, at least';
/** By default the test product has no accounts. */
const ACCOUNTS = { JWT_SECRET: SECRET };
const LAB = ['lab', 'lab-report', 'lab-child'];

const product = useProduct();
let authorization: string;
beforeAll(async () => {
  const token = new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg: 'HS256' });
  const signed = await token.setExpirationTime('5m').sign(new TextEncoder().encode(SECRET));
  authorization = `Bearer ${signed}`;
});

async function restart(env: Record<string, string>): Promise<void> {
  await product.stopApi();
  await product.startApi(env);
}

/** The reply to a message: `answered`, or the code of its refusal. */
async function ask(agent: string): Promise<string> {
  const response = await fetch(`${product.url}/api/chat/${newSessionId()}?agent=${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } }),
  });
  const text = await response.text();
  return response.ok ? 'answered' : (JSON.parse(text) as { code: string }).code;
}

async function listed(): Promise<string[]> {
  const response = await fetch(`${product.url}/api/config`, { headers: { authorization } });
  const { agents } = (await response.json()) as { agents: string[] };
  return agents.filter((name) => LAB.includes(name));
}

describe('the lab agent', () => {
  it('the lab agent and its sub-agents are not served to users with accounts', async () => {
    await restart(ACCOUNTS);
    for (const name of LAB) expect(await ask(name)).toBe('agent_not_found');
    expect(await listed()).toEqual([]);
    expect(await ask('support')).toBe('answered');
  });

  it('a worker with LAB=0 does not carry it out', async () => {
    const worker = startProcess('worker', {
      REDIS_URL: product.redisServer.url,
      TEMPORAL_ADDRESS: sharedTemporal(),
      TASK_QUEUE: `${product.taskQueue}-2`,
      LAB: '0',
    });
    expect(await worker.says('worker runs')).toMatchObject({
      agents: expect.not.arrayContaining(['lab']) as unknown,
    });
    await worker.kill9();
  });

  it('the lab agent is served as its setting says', () => {
    for (const setting of [true, false]) {
      expect(isLabServed({ setting, hasAccounts: !setting, host: '127.0.0.1' })).toBe(setting);
    }
  });

  it.each([
    ['127.0.0.1', true],
    ['127.4.5.6', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.evil.example', false],
    ['192.168.1.5', false],
  ])('the lab agent is served without accounts at %s: %s', (host, served) => {
    expect(isLabServed({ setting: undefined, hasAccounts: false, host })).toBe(served);
  });
});
