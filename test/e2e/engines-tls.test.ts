import { Redis } from 'ioredis';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { runCommand } from '../support/command-line.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct } from '../support/product.js';
import { filesIn, makeCertificate } from '../support/redis-certificate.js';
import { dataArguments, startRedisProcess, type RedisProcess } from '../support/redis-process.js';
import { createRedisUser } from '../support/redis-user.js';
import { CERTIFICATES, startTlsProxy } from '../support/tls-proxy.js';

let temporal: Awaited<ReturnType<typeof startTlsProxy>>;
let server: RedisProcess;
let url: string;
let authority: string;
/** Behind the address: the authority, and a certificate that it has signed with its key. */
let files: string;

beforeAll(async () => {
  temporal = await startTlsProxy(Number(sharedTemporal().split(':')[1]));
  server = await startRedisProcess(dataArguments);
  const made = await makeCertificate(server.folder);
  const { key, certificate } = made;
  authority = certificate;
  files = filesIn(made);
  const tlsPort = String(await anyFreePort());
  const redis = new Redis(server.port);
  try {
    // All at once: a port for TLS needs its certificate.
    await redis.call(
      'CONFIG',
      'SET',
      'tls-cert-file',
      certificate,
      'tls-key-file',
      key,
      'tls-ca-cert-file',
      certificate,
      'tls-auth-clients',
      'yes',
      'tls-port',
      tlsPort,
    );
    const user = await createRedisUser(redis, 'hx');
    url = user.url.replace(/^redis:/, 'rediss:').replace(String(server.port), tlsPort);
    await redis.acl('SETUSER', 'admin', 'on', '>secret', '+config|set');
    await redis.acl('SETUSER', 'default', 'resetkeys', '-@all', '+ping');
  } finally {
    redis.disconnect();
  }
});
afterAll(async () => {
  await server.close();
  await temporal.close();
});

/** A client without a certificate trusts the server, and is refused by it. */
const trusting = (): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal.port)}`,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: CERTIFICATES.authority,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});

const doctor = (env: Record<string, string>) =>
  runCommand(['doctor', '--engines-only'], {
    env: { REDIS_URL: url, TEMPORAL_ADDRESS: sharedTemporal(), NO_COLOR: '1', ...env },
  });

const requireCertificates = async (which: 'yes' | 'no'): Promise<void> => {
  const redis = new Redis(server.port, { username: 'admin', password: 'secret' });
  try {
    await redis.call('CONFIG', 'SET', 'tls-auth-clients', which);
  } finally {
    redis.disconnect();
  }
};

/** A process that cannot start, to its end: what it wrote, but for the line that says so. */
async function linesOf(role: 'api' | 'worker', env: Record<string, string>): Promise<string[]> {
  const started = startProcess(role, {
    TEMPORAL_ADDRESS: sharedTemporal(),
    PORT: '0',
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'fatal',
    ...env,
  });
  expect(await started.exitCode).toBe(1);
  return started.log().trim().split('\n').slice(0, -1);
}

describe('a Temporal server that demands certificates', () => {
  it.concurrent('a worker without one ends with one line', async () => {
    const env = { ...trusting(), REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' };
    expect(await linesOf('worker', env)).toEqual([
      expect.stringMatching(
        `Temporal at 127.0.0.1:${String(temporal.port)} refuses the TLS connection.*TEMPORAL_TLS_CLIENT_CERT_PATH`,
      ),
    ]);
  });
});

describe('a Redis with TLS and a user of its own, which demands certificates', () => {
  it.concurrent(
    'with one for each engine a run is carried out, by the documented rights',
    async () => {
      const env = { REDIS_URL: `${url}${files}` };
      const certificates = {
        TEMPORAL_TLS_CLIENT_CERT_PATH: CERTIFICATES.client,
        TEMPORAL_TLS_CLIENT_KEY_PATH: CERTIFICATES.clientKey,
      };
      const product = await startProduct({ env: { ...env, ...trusting(), ...certificates } });
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
      const { stdout } = await doctor(env);
      expect(stdout).toContain('The user of REDIS_URL may use every command.');
    },
  );

  it.concurrent(
    'doctor names the setting for a certificate that is missing, or whose file cannot be read',
    async () => {
      const without = await doctor({ REDIS_URL: url, NODE_EXTRA_CA_CERTS: authority });
      expect(without.code).toBe(1);
      expect(without.stdout).toMatch(
        /cannot be reached.*demands a certificate, \?cert=<file>&key=<file>/s,
      );
      const gone = await doctor({ REDIS_URL: `${url}${files}.gone` });
      expect(gone.code).toBe(1);
      expect(gone.stdout).toMatch(/The file key of REDIS_URL: ENOENT/);
      expect(without.stdout + gone.stdout).not.toContain('secret');
    },
  );
});

describe('a Redis with TLS and a user of its own', () => {
  beforeAll(() => requireCertificates('no'));

  it.concurrent.each<[what: string, fault: { plain?: true; password?: string }, sentence: RegExp]>([
    ['a certificate of an unknown authority', {}, /REDIS_URL.*NODE_EXTRA_CA_CERTS/s],
    ['no TLS', { plain: true }, /rediss:\/\/ where it wants TLS|rediss:\/\/ in REDIS_URL for TLS/],
    ['a wrong password', { password: 'wrong' }, /Correct user and password in REDIS_URL\./],
  ])('doctor names the setting for %s', async (_what, { plain, password }, sentence) => {
    const wrong = password === undefined ? url : url.replace(/:[^:@]*@/, `:${password}@`);
    const { code, stdout } = await doctor({
      REDIS_URL: plain === true ? wrong.replace('rediss:', 'redis:') : wrong,
      ...(password !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(sentence);
    expect(stdout).not.toContain('secret');
  });

  it.concurrent('an API without the authority ends with one line', async () => {
    const [line = ''] = await linesOf('api', { REDIS_URL: url });
    expect(line).toMatch(
      /^Redis at rediss:.* cannot be reached by TLS: .*REDIS_URL.*NODE_EXTRA_CA_CERTS/,
    );
    expect(line).not.toContain('secret');
  });
});
