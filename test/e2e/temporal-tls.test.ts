import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct } from '../support/product.js';
import { CERTIFICATES, startTlsProxy } from '../support/tls-proxy.js';

let proxy: Awaited<ReturnType<typeof startTlsProxy>>;
beforeAll(async () => {
  proxy = await startTlsProxy(Number(sharedTemporal().split(':')[1]));
});
afterAll(() => proxy.close());

/** A client without a certificate trusts the server, and is refused by it. */
const trusting = (): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${String(proxy.port)}`,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: CERTIFICATES.authority,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});

describe('a Temporal server that demands certificates', () => {
  it.concurrent(
    'API and worker with a certificate connect to it, and a run completes',
    async () => {
      const env = {
        ...trusting(),
        TEMPORAL_TLS_CLIENT_CERT_PATH: CERTIFICATES.client,
        TEMPORAL_TLS_CLIENT_KEY_PATH: CERTIFICATES.clientKey,
      };
      const product = await startProduct({ env });
      try {
        const response = await fetch(`${product.url}/api/chat/${newSessionId()}?agent=lab`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } }),
        });
        expect(await response.text()).toContain('"type":"finish"');
      } finally {
        await product.stop();
      }
    },
  );

  it.concurrent.each(['api', 'worker'] as const)(
    'the %s without one ends with one line',
    async (role) => {
      const started = startProcess(role, {
        ...trusting(),
        PORT: '0',
        REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
        HELIX_ALLOW_UNAUTHENTICATED: '1',
        LOG_LEVEL: 'fatal',
      });
      expect(await started.exitCode).toBe(1);
      const lines = started.log().trim().split('\n').slice(0, -1);
      expect(lines).toEqual([
        expect.stringMatching(
          `Temporal at 127.0.0.1:${String(proxy.port)} refuses the TLS connection.*TEMPORAL_TLS_CLIENT_CERT_PATH`,
        ),
      ]);
    },
  );
});
