import { Redis } from 'ioredis';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { runCommand } from '../support/command-line.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct } from '../support/product.js';
import { filesIn, makeCertificate } from '../support/redis-certificate.js';
import { dataArguments, startRedisProcess, type RedisProcess } from '../support/redis-process.js';
import { createRedisUser } from '../support/redis-user.js';

let server: RedisProcess;
let url: string;
let authority: string;
/** Behind the address: the authority, and a certificate that it has signed with its key. */
let files: string;

beforeAll(async () => {
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
afterAll(() => server.close());

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

describe('a Redis with TLS and a user of its own, which demands certificates', () => {
  it.concurrent('API and worker with one carry out a run, by the documented rights', async () => {
    const env = { REDIS_URL: `${url}${files}` };
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
    const { stdout } = await doctor(env);
    expect(stdout).toContain('The user of REDIS_URL may use every command.');
  });

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

  it.concurrent('doctor with its authority finds nothing wrong', async () => {
    const { stdout } = await doctor({ REDIS_URL: url, NODE_EXTRA_CA_CERTS: authority });
    expect(stdout).toContain('The user of REDIS_URL may use every command.');
  });

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

  it.concurrent.each(['api', 'worker'] as const)(
    'the %s without the authority ends with one line',
    async (role) => {
      const started = startProcess(role, {
        REDIS_URL: url,
        TEMPORAL_ADDRESS: sharedTemporal(),
        PORT: '0',
        HELIX_ALLOW_UNAUTHENTICATED: '1',
        LOG_LEVEL: 'fatal',
      });
      expect(await started.exitCode).toBe(1);
      const line = started.log().trim().split('\n')[0] ?? '';
      expect(line).toMatch(
        /^Redis at rediss:.* cannot be reached by TLS: .*REDIS_URL.*NODE_EXTRA_CA_CERTS/,
      );
      expect(line).not.toContain('secret');
    },
  );
});
