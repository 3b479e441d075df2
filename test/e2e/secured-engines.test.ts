import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { createPayloadCodec } from '../../extensions/codec/index.js';
import type { Times } from '../../protocol/limits.js';
import { claimAnyPort } from '../../scripts/system/ports.mjs';
import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
} from '../support/chat-client.js';
import { runCommand } from '../support/command-line.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { filesIn, makeCertificate } from '../support/redis-certificate.js';
import { startRedisProcess, type RedisProcess } from '../support/redis-process.js';
import { createRedisUser } from '../support/redis-user.js';
import { requireProgram } from '../support/require-program.js';
import {
  CERTIFICATES,
  startSecuredTemporal,
  type SecuredTemporal,
} from '../support/secured-temporal.js';
import { until } from '../support/until.js';

/**
 * Runs the product on a company's engines: both demand mutual TLS, Redis an ACL user, Temporal an
 * API key, and payloads in histories are encrypted with the company's key.
 */
const CANARY = 'the canary sings';
const API_KEY = 'a-key-of-the-cloud';
const NEXT_API_KEY = 'the-next-key';
const [NEW_KEY, OLD_KEY] = ['2026-12', '2026-11'].map(
  (id) => `${id}:${randomBytes(32).toString('base64')}`,
) as [string, string];

let temporal: SecuredTemporal;
let server: RedisProcess;
/** Address of Redis, without a client certificate. */
let url: string;
let authority: string;
/** Query of that address: the authority, and a client certificate with its key. */
let files: string;
let product: Product;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  temporal = await startSecuredTemporal(sharedTemporal(), API_KEY);
  server = await startRedisProcess();
  const made = await makeCertificate(server.folder);
  const { key, certificate } = made;
  authority = certificate;
  files = filesIn(made);
  const tlsPort = String(await claimAnyPort());
  const redis = new Redis(server.port);
  try {
    // Redis must get all settings at once: a TLS port needs its certificate.
    const port = ['tls-cert-file', certificate, 'tls-key-file', key, 'tls-ca-cert-file'];
    const set = [...port, certificate, 'tls-auth-clients', 'yes', 'tls-port', tlsPort];
    await redis.call('CONFIG', 'SET', ...set);
    // The lab agent keeps its charges outside the product's keys.
    const user = await createRedisUser(redis, 'hx', '~lab:*');
    url = user.url.replace(/^redis:/, 'rediss:').replace(String(server.port), tlsPort);
    await redis.acl('SETUSER', 'admin', 'on', '>secret', '+config|set');
    await redis.acl('SETUSER', 'default', 'resetkeys', '-@all', '+ping');
  } finally {
    redis.disconnect();
  }
  product = await startProduct({
    env: { ...withKey(API_KEY), REDIS_URL: `${url}${files}`, TEMPORAL_CODEC_KEYS: OLD_KEY },
  });
  connection = await Connection.connect({ address: sharedTemporal() });
  const keys = [NEW_KEY, OLD_KEY].map((setting) => {
    const [id = '', text = ''] = setting.split(':');
    return { id, key: Buffer.from(text, 'base64') };
  });
  client = new Client({ connection, dataConverter: { payloadCodecs: [createPayloadCodec(keys)] } });
});
afterAll(async () => {
  await product.stop();
  await connection.close();
  await temporal.close();
  await server.close();
});

const withKey = (key: string): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal.port)}`,
  TEMPORAL_API_KEY: key,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: CERTIFICATES.authority,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
  TEMPORAL_TLS_CLIENT_CERT_PATH: CERTIFICATES.client,
  TEMPORAL_TLS_CLIENT_KEY_PATH: CERTIFICATES.clientKey,
});

/** The key that Temporal accepts. */
let apiKey = API_KEY;

const doctor = (env: Record<string, string>) =>
  runCommand(['doctor', '--engines-only'], {
    env: {
      REDIS_URL: `${url}${files}`,
      TASK_QUEUE: product.taskQueue,
      NO_COLOR: '1',
      ...withKey(apiKey),
      ...env,
    },
  });

async function restart(env: Record<string, string>): Promise<void> {
  await Promise.all([product.stopApi(), product.kill9Worker()]);
  await Promise.all([product.startApi(env), product.startWorker(env)]);
}

const statusOf = async (sessionId: string): Promise<string | undefined> =>
  (await loadSnapshot(product.url, sessionId)).run?.status;

const untilCompleted = (sessionId: string): Promise<unknown> =>
  until('the run is completed', async () => (await statusOf(sessionId)) === 'completed');

/** Begins a conversation whose run asks for permission to charge. */
async function askToCharge(...rest: object[]): Promise<string> {
  const sessionId = newSessionId();
  const page = openChat(CLIENT_7, { url: product.url, sessionId });
  await page.chat.sendMessage(toScript({ calls: [charge('c1')] }, ...rest));
  await untilAsked(page);
  return sessionId;
}

/** Reads a workflow's whole history: its strings, and its bytes as text. */
async function readHistory(workflowId: string): Promise<string> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId },
  });
  return textsOf(history).join('\n');
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('latin1')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

describe('the product on engines that demand TLS, certificates and keys', () => {
  /** A session whose question was encrypted with the old codec key. */
  let waiting: string;

  it('carries out runs by the documented rights, and each call to Temporal names its namespace', async () => {
    waiting = await askToCharge({ say: 'done' });
    const { stdout } = await doctor({});
    expect(stdout).toContain('The user of REDIS_URL may use every command.');
    expect(stdout).toContain('✓ temporal namespace');
    expect([...temporal.unrouted]).toEqual([]);
  });

  it('names a codec key that is gone, which holds up no other chat', async () => {
    await restart({ TEMPORAL_CODEC_KEYS: NEW_KEY });
    await until('both processes name the key and the setting', () => {
      const named = product
        .log()
        .split('\n')
        .filter((line) => line.includes('2026-11'));
      return named.filter((line) => line.includes('TEMPORAL_CODEC_KEYS')).length >= 2;
    });
    const { code, stdout } = await doctor({ TEMPORAL_CODEC_KEYS: NEW_KEY });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ codec keys.*2026-11/)]);
    const other = openChat(CLIENT_7, { url: product.url, sessionId: newSessionId() });
    await other.chat.sendMessage(toScript({ say: 'as ever' }));
    expect(other.reply()).toContain('as ever');
    const answered = await postJson(`${product.url}/api/chat/${waiting}/pending/c1`, {
      approved: true,
    });
    expect(answered.status).toBe(202);
  });

  it('refuses no message when its API key expires; the next one answers it, and with the codec key the run goes on', async () => {
    apiKey = NEXT_API_KEY;
    temporal.accept(apiKey);
    const late = newSessionId();
    const message = { id: 'u1', role: 'user', content: 'hi' };
    const reply = await postJson(`${product.url}/api/chat/${late}?agent=lab`, { message });
    expect(reply.status).toBe(200);
    await reply.body?.cancel();
    await restart({ ...withKey(apiKey), TEMPORAL_CODEC_KEYS: `${NEW_KEY},${OLD_KEY}` });
    await untilCompleted(late);
    const { stdout } = await doctor({ TEMPORAL_CODEC_KEYS: `${NEW_KEY},${OLD_KEY}` });
    expect(stdout).toContain('✓ codec keys');
    // The run began under the old codec key and ends after its rotation.
    await untilCompleted(waiting);
  });

  it('leaves nothing readable in a history, which Temporal’s own command line reads by the API', async () => {
    const sessionId = await askToCharge({
      calls: [{ tool: 'echo', id: 'e1', args: { value: 1 } }],
    });
    const { run } = await loadSnapshot(product.url, sessionId);
    const workflowId = `run:${run?.runId ?? ''}`;
    const command = async (...args: string[]): Promise<string> => {
      const to = ['--address', sharedTemporal(), '--workflow-id', workflowId];
      const codec = ['--codec-endpoint', `${product.url}/api/operator/codec`];
      const all = ['workflow', ...args, ...to, ...codec];
      return (await promisify(execFile)(requireProgram('TEMPORAL_CLI_PATH'), all)).stdout;
    };
    // A query without arguments leaves nothing to encrypt.
    expect(await command('query', '--name', 'agentState')).toContain('"toolName":"charge"');
    const answer = { toolCallId: 'c1', by: 'ann', input: { amount: 7, note: CANARY } };
    await command('update', 'execute', '--name', 'approve', '--input', JSON.stringify(answer));
    await client.workflow.getHandle(workflowId).result();
    const { messages } = await loadSnapshot(product.url, sessionId);
    expect(callsOf(messages.at(-1))).toMatchObject([
      { toolCallId: 'c1', output: { charged: 7 } },
      { toolCallId: 'e1', output: { value: 1 } },
    ]);
    const history = await readHistory(workflowId);
    expect(history).toContain('binary/encrypted');
    expect(history).not.toContain(CANARY);
    // A plain field name would reveal an unencrypted payload; search attributes stay plain.
    expect(history).not.toContain('toolCallId');
    const shown = JSON.parse(await command('show', '-o', 'json')) as unknown;
    const decoded = textsOf(shown).map((text) => Buffer.from(text, 'base64').toString());
    expect(decoded.join('\n')).toContain(CANARY);
  });
});

it('an API with a wrong key ends with one line', async () => {
  const started = startProcess('api', {
    ...withKey('an-expired-one'),
    PORT: '0',
    REDIS_URL: `${url}${files}`,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'fatal',
    HELIX_TIMES: JSON.stringify({ serverMs: 2_000 } satisfies Partial<Times>),
  });
  expect(await started.exitCode).toBe(1);
  const lines = started.log().trim().split('\n').slice(0, -1);
  expect(lines).toEqual([
    expect.stringMatching(/refuses the credentials: invalid or expired.*TEMPORAL_API_KEY/),
  ]);
  expect(started.log()).not.toContain('an-expired-one');
});

const trusts = (): Record<string, string> => ({ NODE_EXTRA_CA_CERTS: authority });

it.each<[what: string, env: () => Record<string, string>, sentence: RegExp]>([
  [
    'a wrong API key',
    () => ({ TEMPORAL_API_KEY: 'an-expired-one' }),
    /refuses the credentials.*TEMPORAL_API_KEY/s,
  ],
  [
    'a certificate of Redis that is missing',
    () => ({ REDIS_URL: url, ...trusts() }),
    /cannot be reached.*demands a certificate, \?cert=<file>&key=<file>/s,
  ],
  [
    'a file that cannot be read',
    () => ({ REDIS_URL: `${url}${files}.gone` }),
    /The file key of REDIS_URL: ENOENT/,
  ],
  [
    'an authority of Redis that is not known',
    () => ({ REDIS_URL: url }),
    /REDIS_URL.*NODE_EXTRA_CA_CERTS/s,
  ],
  [
    'TLS that is missing',
    () => ({ REDIS_URL: url.replace('rediss:', 'redis:') }),
    /rediss:\/\/ where it wants TLS|rediss:\/\/ in REDIS_URL for TLS/,
  ],
  [
    'a wrong password',
    () => ({ REDIS_URL: `${url}${files}`.replace(/:[^:@]*@/, ':wrong@') }),
    /Correct user and password in REDIS_URL\./,
  ],
])('doctor names the setting of %s, and never shows a secret', async (_what, env, sentence) => {
  const { code, stdout } = await doctor(env());
  expect(code).toBe(1);
  expect(stdout).toMatch(sentence);
  expect(stdout).not.toMatch(/secret|an-expired-one|the-next-key/);
});
