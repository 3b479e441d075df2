import { afterEach, describe, expect, it } from '@jest/globals';
import { readAccess } from '../../api/access-from-config.js';
import { createApi } from '../../api/index.js';
import { parseEnv } from '../../config/env.js';
import { HelixError } from '../../protocol/errors.js';
import { connectRaw } from '../support/raw-http.js';
import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';
import { say, startApi, type ApiServer } from './api-server.js';

let api: ApiServer | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const SETTINGS = { HELIX_ALLOW_UNAUTHENTICATED: '1', PUBLIC_URL: 'https://chat.example.com' };

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function createHello(): FakeRuntime {
  return createFakeRuntime(async (session) => {
    session.step();
    session.say('Hello.');
    session.commit();
    session.end();
    await Promise.resolve();
  });
}

describe('who may do what', () => {
  it('no app without an authenticator, unless said out loud', () => {
    const deps = { ...createFakeRuntime(), namespace: 'default', checks: {}, logger };
    expect(() => createApi(deps)).toThrow('authenticate');
    expect(() => createApi({ ...deps, allowUnauthenticated: true })).not.toThrow();
  });

  it('strangers learn nothing of a session', async () => {
    api = await startApi(createHello(), {
      defaultAgent: 'lab',
      allowUnauthenticated: false,
      authenticate: (request) => {
        const userId = request.get('x-user');
        return userId === undefined ? undefined : { userId };
      },
    });
    const ann = { 'x-user': 'ann' };
    const bob = { 'x-user': 'bob' };
    const posted = await api.post('/api/chat/s1', { messages: [say('u1', 'hi')] }, ann);
    expect(posted.status).toBe(200);
    await posted.text();

    expect((await api.get('/api/chat/s1/snapshot', ann)).status).toBe(200);
    expect((await api.get('/api/chat/s1/snapshot', bob)).status).toBe(404);
    expect((await api.get('/api/chat/s1', { ...bob, 'x-resume-from-sequence': '0' })).status).toBe(
      204,
    );
    expect((await api.post('/api/chat/s1/stop', {}, bob)).status).toBe(404);
    const refused = await api.post('/api/chat/s1', { messages: [say('u2', 'hi')] }, bob);
    expect(refused.status).toBe(404);
    expect(refused.headers.get('x-run-id')).toBeNull();
    expect((await api.get('/api/chat/s1/snapshot')).status).toBe(401);
    expect((await api.post('/api/chat/s1/stop', {}, ann)).status).toBe(202);
  });

  it('without accounts, other sites may not act through a browser', async () => {
    api = await startApi(createHello(), { defaultAgent: 'lab' });
    const response = await api.post(
      '/api/chat/s1',
      { messages: [say('u1', 'hi')] },
      { 'sec-fetch-site': 'cross-site' },
    );
    expect(response.status).toBe(401);
    expect(api.runtime.sessions.size).toBe(0);
  });
});

describe('a server for this machine only', () => {
  it.each([
    ['localhost:3000', 200],
    ['127.0.0.1', 200],
    ['[::1]:3000', 200],
    ['chat.localhost', 200],
    ['api:3000', 200],
    ['chat.example.com', 200],
    // A page that has its own name point here would be of this origin for the browser.
    ['rebound.evil.test:3000', 401],
    ['localhost.evil.test', 401],
    ['127.0.0.1.evil.test', 401],
  ])('asked as %s → %d', async (host, status) => {
    api = await startApi(createHello(), readAccess(parseEnv(SETTINGS)));
    const connection = await connectRaw(api.url);
    connection.send(`GET /api/config HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect((await connection.reply).status).toBe(status);
  });

  it('is asked by any name where it is not on loopback, or knows who asks', () => {
    const settings = [
      { HOST: '0.0.0.0' },
      { JWT_SECRET: 'a secret of thirty-two bytes, at least' },
    ];
    for (const other of settings) {
      expect(readAccess(parseEnv({ ...SETTINGS, ...other })).hostNames).toBeUndefined();
    }
  });
});

describe('when something breaks', () => {
  it('an outage is 503, typed', async () => {
    const runtime = createHello();
    runtime.executor.execute = () => Promise.reject(new HelixError('unavailable', 'Not now.'));
    api = await startApi(runtime, { defaultAgent: 'lab' });
    const response = await api.post('/api/chat/s1', { messages: [say('u1', 'hi')] });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: 'Not now.', code: 'unavailable' });
  });

  it('an unexpected error shows no internals, and is logged with all of them', async () => {
    const runtime = createHello();
    runtime.stateStore.sessions.read = () =>
      Promise.reject(new Error('secret: redis://:password@host'));
    api = await startApi(runtime, { defaultAgent: 'lab' });
    const response = await api.post('/api/chat/s1', { messages: [say('u1', 'hi')] });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'internal_error' });
    expect(text).not.toContain('secret');
    expect(api.logged).toHaveLength(1);
  });

  it('is ready once everything was seen, as long as Redis answers; what is away is named', async () => {
    const away = new Set(['worker', 'temporal']);
    const check = (name: string) => (): Promise<void> =>
      away.has(name) ? Promise.reject(new Error('away')) : Promise.resolve();
    const checks = { redis: check('redis'), temporal: check('temporal'), worker: check('worker') };
    const server = await startApi(createHello(), { checks });
    api = server;
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
