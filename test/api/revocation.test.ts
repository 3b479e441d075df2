import { createFakeRuntime } from '../support/fake-runtime.js';
import { say, startApi, type ApiServer } from './api-server.js';

let api: ApiServer | undefined;
afterEach(() => api?.close());

const as = (token: string): Record<string, string> => ({ 'x-token': token });

/** Starts a turn, and offers to revoke the token of its user. */
async function startTurn(): Promise<{ server: ApiServer; revoke: (token: string) => void }> {
  const tokens = new Map(['old', 'new'].map((token) => [token, new AbortController()]));
  const runtime = createFakeRuntime((session) => {
    session.step();
    session.say('One moment.');
    return Promise.resolve();
  });
  const server = await startApi(runtime, {
    defaultAgent: 'lab',
    allowUnauthenticated: false,
    authenticate: (request) => {
      const revoked = tokens.get(request.get('x-token') ?? '')?.signal;
      return revoked?.aborted === false ? { userId: 'ann', revoked } : undefined;
    },
  });
  api = server;
  return { server, revoke: (token) => tokens.get(token)?.abort() };
}

describe('a revoked identity', () => {
  it.each([
    ['a reply that is followed', '/api/chat/s1/stream'],
    ['the events of a session', '/api/chat/s1/events'],
    ['the events of an agent', '/api/agent/sse?sessionId=s1'],
  ])('%s is cut when its reader is revoked, and no other', async (_what, path) => {
    const { server, revoke } = await startTurn();
    const posted = await server.post('/api/chat/s1', { messages: [say('u1', 'go')] }, as('new'));
    const [old, other] = await Promise.all([
      server.get(path, as('old')),
      server.get(path, as('new')),
    ]);
    expect([old.status, other.status]).toEqual([200, 200]);
    revoke('old');
    await expect(old.text()).rejects.toThrow('terminated');
    expect((await server.get(path, as('old'))).status).toBe(401);
    server.runtime.sessions.get('s1')?.end();
    if (path.endsWith('/events')) await other.body?.cancel();
    else expect(await other.text()).toContain('One moment.');
    expect(await posted.text()).toContain('[DONE]');
  });

  it('the reply to a message is cut when its reader is revoked, and its run continues', async () => {
    const { server, revoke } = await startTurn();
    const body = { messages: [say('u1', 'go')] };
    const posted = await server.post('/api/chat/s1', body, as('old'));
    revoke('old');
    await expect(posted.text()).rejects.toThrow('terminated');
    expect(server.runtime.sessions.get('s1')?.record.status).toBe('running');
  });
});
