import { runCommand } from '../support/command-line.js';
import { startKeyProxy, type KeyProxy } from '../support/key-proxy.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { CERTIFICATES } from '../support/tls-proxy.js';
import { until } from '../support/until.js';

const KEY = 'a-key-of-the-cloud';
let proxy: KeyProxy;
let product: Product;
beforeAll(async () => {
  proxy = await startKeyProxy(sharedTemporal(), KEY);
  product = await startProduct({ env: withKey(KEY) });
});
afterAll(async () => {
  await product.stop();
  await proxy.close();
});

const withKey = (key: string): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${String(proxy.port)}`,
  TEMPORAL_API_KEY: key,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: CERTIFICATES.authority,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});

const say = (url: string, sessionId: string, id = 'u1'): Promise<Response> =>
  fetch(`${url}/api/chat/${sessionId}?agent=lab`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { id, role: 'user', content: 'hi' } }),
  });

describe('a Temporal server that demands an API key, as Temporal Cloud does', () => {
  it.concurrent(
    'API and worker with the key connect to it, a run completes, and each call names its namespace',
    async () => {
      const response = await say(product.url, newSessionId());
      expect(await response.text()).toContain('"type":"finish"');
      const { stdout } = await runCommand(['doctor', '--engines-only'], {
        env: { REDIS_URL: product.redisServer.url, NO_COLOR: '1', ...withKey(KEY) },
      });
      expect(stdout).toContain('✓ temporal namespace');
      expect([...proxy.unrouted]).toEqual([]);
    },
  );

  it.concurrent('an API with a wrong one ends with one line', async () => {
    const started = startProcess('api', {
      ...withKey('an-expired-one'),
      PORT: '0',
      REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
      HELIX_ALLOW_UNAUTHENTICATED: '1',
      LOG_LEVEL: 'fatal',
    });
    expect(await started.exitCode).toBe(1);
    const lines = started.log().trim().split('\n').slice(0, -1);
    expect(lines).toEqual([
      expect.stringMatching(/refuses the credentials: invalid or expired.*TEMPORAL_API_KEY/),
    ]);
    expect(started.log()).not.toContain('an-expired-one');
  });

  it.concurrent('doctor names the setting of a wrong one, and never shows it', async () => {
    const { code, stdout } = await runCommand(['doctor', '--engines-only'], {
      env: {
        REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
        NO_COLOR: '1',
        ...withKey('an-expired-one'),
      },
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/refuses the credentials.*TEMPORAL_API_KEY/s);
    expect(stdout).not.toContain('an-expired-one');
  });

  it('a key that expires while all runs refuses no message, and the next key answers it', async () => {
    const first = await say(product.url, newSessionId());
    await first.text();
    proxy.accept('the-next-key');
    const sessionId = newSessionId();
    const reply = await say(product.url, sessionId, 'u2');
    expect(reply.status).toBe(200);
    await reply.body?.cancel();
    await product.stopApi();
    await product.kill9Worker();
    await Promise.all([
      product.startWorker(withKey('the-next-key')),
      product.startApi(withKey('the-next-key')),
    ]);
    await until('it is answered', async () => {
      const shown = await fetch(`${product.url}/api/chat/${sessionId}/snapshot`);
      return ((await shown.json()) as { status: string }).status === 'ended';
    });
  }, 120_000);
});
