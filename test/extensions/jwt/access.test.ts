import type { Request } from 'express';
import { exportSPKI, generateKeyPair } from 'jose';
import { z } from 'zod';
import {
  AgentRegistry,
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
} from '../../../agents/index.js';
import { readAccess, warnOfAccess } from '../../../extensions/jwt/settings.js';
import { personIdOf } from '../../../api/identity.js';
import { createApi } from '../../../api/index.js';
import { parseEnv } from '../../../config/env.js';
import { HelixError } from '../../../protocol/errors.js';
import { SECRET, signToken } from '../../support/people.js';
import { connectRaw } from '../../support/raw-http.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { greets, say, startApi, startOnMemory } from '../../api/api-server.js';

const SETTINGS = { HELIX_ALLOW_UNAUTHENTICATED: '1', PUBLIC_URL: 'https://chat.example.com:8443' };

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('createApi throws without an authenticator, unless allowUnauthenticated is set', () => {
  const stores = createMemoryStores();
  const executor = { runs: createIdleRuns(stores), namespace: 'default', checks: {} };
  const deps = { executor, stores, agents: [], logger };
  expect(() => createApi(deps)).toThrow('authenticate');
  expect(() => createApi({ ...deps, allowUnauthenticated: true })).not.toThrow();
});

describe('a server without accounts', () => {
  it.each([
    ['localhost:3000', 200],
    ['127.0.0.1', 200],
    ['[::1]:3000', 200],
    ['chat.localhost', 200],
    ['api:3000', 200],
    ['chat.example.com', 200],
    // DNS rebinding: the browser takes a page whose name points here for this origin.
    ['rebound.evil.test:3000', 401],
    ['localhost.evil.test', 401],
    ['127.0.0.1.evil.test', 401],
  ])('a request for host %s gets status %d', async (host, status) => {
    const api = await startApi({ play: greets, ...(await readAccess(parseEnv(SETTINGS))) });
    const connection = await connectRaw(api.url);
    connection.send(`GET /api/config HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect((await connection.reply).status).toBe(status);
  });

  it('the settings allow only the host of PUBLIC_URL on any address, unless there are accounts', async () => {
    for (const HOST of ['0.0.0.0', '::', '127.0.0.1', '10.0.0.5']) {
      const { hostNames } = await readAccess(parseEnv({ ...SETTINGS, HOST }));
      expect(hostNames).toEqual(['chat.example.com']);
    }
    const JWT_SECRET = 'a secret of thirty-two bytes, at least';
    const { hostNames } = await readAccess(parseEnv({ ...SETTINGS, JWT_SECRET }));
    expect(hostNames).toBeUndefined();
  });

  it('the claims of a token have the names that the settings give them, and its cookie', async () => {
    const names = {
      JWT_USER_CLAIM: 'uid',
      JWT_TENANT_CLAIM: 'org',
      JWT_TENANTS_CLAIM: 'helps',
      JWT_PERSON_CLAIM: 'email',
      JWT_ISSUER: 'https://id.test',
      JWT_AUDIENCE: 'chat',
      JWT_COOKIE: 'token',
    };
    const settings = { ...SETTINGS, ...names, JWT_SECRET: SECRET };
    const { authenticate } = await readAccess(parseEnv(settings));
    const claims = { uid: 'u1', org: 'acme', helps: ['rival'], email: 'ann@a.test', aud: 'chat' };
    const ask = async (more: object) => {
      const token = await signToken('ann', 'other', [], { ...claims, ...more });
      const cookie = token.replace('Bearer ', 'token=');
      const get = (header: string) => (header === 'cookie' ? cookie : undefined);
      return authenticate?.({ headers: { cookie }, get } as unknown as Request);
    };
    expect(await ask({ iss: 'https://id.test' })).toMatchObject({
      userId: 'u1',
      tenantId: 'acme',
      tenants: ['rival'],
      personId: personIdOf('ann@a.test'),
    });
    for (const other of [{ iss: 'https://b.test' }, { iss: 'https://id.test', aud: 'shop' }]) {
      await expect(ask(other)).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });

  it('keys are those of the settings, which are refused without any', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    // A line of an env file.
    const JWT_PUBLIC_KEY = (await exportSPKI(publicKey)).replaceAll('\n', '\\n');
    const access = await readAccess(parseEnv({ ...SETTINGS, JWT_PUBLIC_KEY }));
    expect(access).toMatchObject({ allowUnauthenticated: false });
    for (const [env, fault] of [
      [{}, 'or HELIX_ALLOW_UNAUTHENTICATED'],
      [{ JWT_PUBLIC_KEY: 'key' }, 'JWT_*: '],
      [{ JWT_JWKS_URL: 'http://id.test/keys' }, 'JWT_*: jwksUrl must be https:'],
    ] as const) {
      const message = expect.stringContaining(fault) as unknown;
      await expect(readAccess(parseEnv(env))).rejects.toMatchObject({
        name: 'ConfigError',
        message,
      });
    }
  });

  it('origins, limits and proxies are those of the settings', async () => {
    const settings = {
      CORS_ORIGINS: 'https://a.test',
      CORS_CREDENTIALS: '1',
      MAX_REQUESTS_PER_MINUTE: '7',
      MAX_OPEN_STREAMS: '8',
      MAX_READ_MB_PER_MINUTE: '2',
      TRUSTED_PROXIES: '3',
      REPLIES_OUTLIVE_TOKENS: '1',
    };
    expect(await readAccess(parseEnv({ ...SETTINGS, ...settings }))).toMatchObject({
      allowedOrigins: ['https://a.test'],
      allowCredentials: true,
      limits: { requestsPerMinute: 7, openStreams: 8, readBytesPerMinute: 2 * 1024 * 1024 },
      trustedProxies: 3,
      repliesOutliveTokens: true,
    });
  });

  it('roles have the names that the settings give them', async () => {
    const names = { VIEWER_ROLE: 'reader', APPROVER_ROLE: 'lead', OPERATOR_ROLE: 'admin' };
    const JWT_ROLES_CLAIM = 'realm_access.roles';
    const settings = { ...SETTINGS, ...names, JWT_SECRET: SECRET, JWT_ROLES_CLAIM };
    const { authenticate } = await readAccess(parseEnv(settings));
    const roles = ['viewer', 'approver', 'operator'];
    for (const [index, name] of Object.values(names).entries()) {
      const authorization = await signToken('ann', undefined, ['viewer', name]);
      const headers: Record<string, string> = { authorization };
      const request = { headers, get: (header: string) => headers[header] } as unknown as Request;
      expect(await authenticate?.(request)).toMatchObject({ roles: [roles[index]] });
    }
  });

  it('createApi without accounts refuses foreign host names', async () => {
    const api = await startApi({ play: greets });
    const connection = await connectRaw(api.url);
    connection.send('GET /api/config HTTP/1.1\r\nhost: evil.test\r\nconnection: close\r\n\r\n');
    expect((await connection.reply).status).toBe(401);
  });
});

describe('agents that are only sub-agents', () => {
  const child = { inputSchema: z.object({}), description: 'Delegates.' };
  const model = createScriptedModel();
  const define = (name: string, more: object = {}) =>
    defineAgent({ name, systemPrompt: 'Be.', llmConfig: { model }, ...more });
  const secret = define('secret');
  const open = define('open', { public: true });
  const tools = [secret, open].map((agent) => createSubAgentTool({ ...child, agent }));
  const agents = new AgentRegistry([
    define('parent', { tools }),
    define('hidden', { public: false }),
  ]);

  it('a sub-agent is neither listed nor addressable unless it is public', async () => {
    const api = await startApi({ play: greets, agents });
    const config = (await (await api.get('/api/config')).json()) as { agents: string[] };
    expect(config.agents).toEqual(['parent', 'open']);
    for (const [agent, status] of [
      ['parent', 200],
      ['open', 200],
      ['secret', 400],
      ['hidden', 400],
    ]) {
      const name = String(agent);
      const posted = { agent, messages: [say('u1', 'hi')] };
      const response = await api.post(`/api/chat/chat-${name}`, posted);
      expect([name, response.status]).toEqual([name, status]);
      const text = await response.text();
      if (status === 400) expect(JSON.parse(text)).toMatchObject({ code: 'agent_not_found' });
      const started = { sessionId: `start-${name}`, agent, message: 'hi' };
      const { status: begun } = await api.post('/api/agent/start', started);
      expect([name, begun]).toEqual([name, status === 200 ? 202 : 400]);
    }
  });

  it('a conversation is not continued in any way once its agent is not addressable', async () => {
    const before = await startApi();
    const message = { agent: 'lab', messages: [say('u1', 'hello')] };
    const begun = await before.post('/api/chat/s1', message);
    expect(begun.status).toBe(200);
    await begun.body?.cancel();

    const hidden = ['lab', 'support'].map((name) => define(name, { public: false }));
    const after = await startApi({ stores: before.stores, agents: new AgentRegistry(hidden) });
    const requests: [path: string, body: object][] = [
      ['/api/chat/s1', { messages: [say('u2', 'more')] }],
      ['/api/chat/s1', { trigger: 'regenerate-message', messages: [say('u1', 'hello')] }],
      ['/api/chat/s1/retry', {}],
      ['/api/agent/resume', { sessionId: 's1' }],
      ['/api/agent/resume', { sessionId: 's1', mode: 'retry' }],
    ];
    for (const [path, body] of requests) {
      const response = await after.post(path, body);
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        400,
        { code: 'agent_not_found' },
      ]);
    }
  });

  it('a sub-agent is addressable once it is registered as an agent', () => {
    const all = new AgentRegistry([define('parent', { tools }), secret]);
    expect(all.isPublic('secret')).toBe(true);
    all.unregister('secret');
    expect(all.isPublic('secret')).toBe(false);
  });
});

describe('failures and readiness', () => {
  it('an outage gets a typed 503', async () => {
    const execute = () => Promise.reject(new HelixError('unavailable', 'Not now.'));
    const api = await startOnMemory({ instead: { execute } });
    const body = { messages: [say('u1', 'hi')] };
    const response = await api.post('/api/chat/s1', body, { 'x-user': 'ann' });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: 'Not now.', code: 'unavailable' });
  });

  it('an unexpected error shows no internals and is logged with its details', async () => {
    const stores = createMemoryStores();
    stores.store.sessions.read = () => Promise.reject(new Error('secret: redis://:password@host'));
    const api = await startApi({ stores, defaultAgent: 'lab' });
    const response = await api.post('/api/chat/s1', { messages: [say('u1', 'hi')] });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'internal_error' });
    expect(text).not.toContain('secret');
    expect(api.logged).toHaveLength(1);
  });

  it('the server is ready once every part was seen, while Redis answers, and names parts that are away', async () => {
    const away = new Set(['worker', 'temporal']);
    const check = (name: string) => (): Promise<void> =>
      away.has(name) ? Promise.reject(new Error('away')) : Promise.resolve();
    const checks = { redis: check('redis'), temporal: check('temporal'), worker: check('worker') };
    const server = await startApi({ play: greets, checks });
    expect((await server.get('/healthz')).status).toBe(200);
    const ready = async (): Promise<unknown[]> => {
      const response = await server.get('/readyz');
      return [response.status, (await response.json()) as unknown];
    };
    const all = { redis: 'ok', temporal: 'ok', worker: 'ok' };
    expect(await ready()).toEqual([
      503,
      {
        status: 'unavailable',
        away: ['temporal', 'worker'],
        checks: { ...all, temporal: 'failed', worker: 'failed' },
      },
    ]);
    away.delete('temporal');
    expect(await ready()).toMatchObject([503, { away: ['worker'] }]);
    away.clear();
    expect(await ready()).toEqual([200, { status: 'ok', checks: all }]);
    away.add('worker').add('temporal');
    expect(await ready()).toMatchObject([200, { status: 'ok', away: ['temporal', 'worker'] }]);
    away.clear();
    away.add('redis');
    expect(await ready()).toMatchObject([503, { status: 'unavailable', away: ['redis'] }]);
  });
});

const warn = (env: Record<string, string>, hasAccounts = true): string[] =>
  warnOfAccess(parseEnv({ AUDIT_KEY: 'k'.repeat(32), ...env }), hasAccounts);

describe('warnOfAccess', () => {
  const JWT_JWKS_URL = 'https://id.test/keys';

  it('warnOfAccess warns of nothing where every user has an account of their own', () => {
    expect(warn({ JWT_JWKS_URL, JWT_AUDIENCE: 'chat' })).toEqual([]);
    expect(warn({ JWT_SECRET: 'of this application alone' })).toEqual([]);
  });

  it.each([
    ['of a server without accounts', {}, false, 'there is no sign-in'],
    ['of tokens for other applications', { JWT_JWKS_URL }, true, 'JWT_AUDIENCE is not set'],
    ['of an audit trail that is not signed', { AUDIT_KEY: '' }, true, 'AUDIT_KEY is not set'],
  ])('warnOfAccess warns %s', (_what, env, hasAccounts, text) =>
    expect(warn(env, hasAccounts)).toEqual([expect.stringContaining(text)]),
  );
});
