import { EventEmitter, getEventListeners } from 'node:events';
import type { PlayedTurn } from '../support/played-turn.js';
import { cutAtExpiry, cutWhenRevoked } from '../../api/stream-reply.js';
import { say, startApi, type ApiServer, type StartOptions } from './api-server.js';

let api: ApiServer | undefined;
afterEach(() => api?.close());

const as = (token: string): Record<string, string> => ({ 'x-token': token });

/** Starts a turn, and offers to revoke the token of its user. */
async function startTurn(
  options: StartOptions = {},
): Promise<{ server: ApiServer; revoke: (token: string) => void; finish: () => Promise<void> }> {
  let turn: PlayedTurn | undefined;
  const tokens = new Map(['old', 'new'].map((token) => [token, new AbortController()]));
  const server = await startApi({
    play: (begun) => (turn = begun).say('One moment.'),
    defaultAgent: 'lab',
    allowUnauthenticated: false,
    authenticate: (request) => {
      const revoked = tokens.get(request.get('x-token') ?? '')?.signal;
      const livesMs = request.get('x-lives-ms');
      if (revoked === undefined) return undefined;
      return {
        userId: 'ann',
        revoked,
        ...(livesMs && { expiresAt: Date.now() + Number(livesMs) }),
      };
    },
    ...options,
  });
  api = server;
  const finish = async () => turn?.finish();
  return { server, revoke: (token) => tokens.get(token)?.abort(), finish };
}

describe('a revoked identity', () => {
  it.each([
    ['a reply that is followed', '/api/chat/s1/stream'],
    ['the events of a session', '/api/chat/s1/events'],
    ['the events of an agent', '/api/agent/sse?sessionId=s1'],
  ])('%s is cut when its reader is revoked, and no other', async (_what, path) => {
    const { server, revoke, finish } = await startTurn();
    const posted = await server.post('/api/chat/s1', { messages: [say('u1', 'go')] }, as('new'));
    const [old, other] = await Promise.all([
      server.get(path, as('old')),
      server.get(path, as('new')),
    ]);
    expect([old.status, other.status]).toEqual([200, 200]);
    revoke('old');
    await expect(old.text()).rejects.toThrow('terminated');
    expect((await server.get(path, as('old'))).status).toBe(401);
    await finish();
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
    expect(await server.stores.store.sessions.read('s1')).toMatchObject({ status: 'running' });
  });
});

it('a reply outlives its token where a setting says so, and what only its reader ends does not', async () => {
  const { server, finish } = await startTurn({ repliesOutliveTokens: true });
  const headers = { ...as('new'), 'x-lives-ms': '1000' };
  const posted = await server.post('/api/chat/s1', { messages: [say('u1', 'go')] }, headers);
  const events = await server.get('/api/chat/s1/events', headers);
  await expect(events.text()).rejects.toThrow('terminated');
  await finish();
  expect(await posted.text()).toContain('[DONE]');
});

describe('whether an identity was revoked', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  /** A response, as far as it is looked at. */
  function readReply() {
    const reply = Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy: () => {
        reply.destroyed = true;
        reply.emit('close');
        return reply;
      },
    });
    return reply as typeof reply & Parameters<typeof cutWhenRevoked>[0];
  }

  it.each<[string, () => boolean | Promise<boolean>]>([
    ['says yes', () => true],
    ['fails', () => Promise.reject(new Error('away'))],
    [
      'throws',
      () => {
        throw new Error('away');
      },
    ],
    ['is never given', () => new Promise(() => undefined)],
  ])('is asked while a reply is read, which is cut when the answer %s', async (_what, answer) => {
    const reply = readReply();
    let isAsked = 0;
    cutWhenRevoked(reply, { revoked: () => (isAsked += 1) > 3 && answer() });
    await jest.advanceTimersByTimeAsync(30_000);
    expect([isAsked, reply.destroyed]).toEqual([3, false]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(reply.destroyed).toBe(true);
    const atCut = isAsked;
    await jest.advanceTimersByTimeAsync(30_000);
    expect(isAsked).toBe(atCut);
  });

  it('is not asked any more when the reply is over', async () => {
    const reply = readReply();
    const revoked = jest.fn(() => false);
    cutWhenRevoked(reply, { revoked });
    const { signal } = new AbortController();
    cutWhenRevoked(reply, { revoked: signal });
    reply.emit('close');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(revoked).not.toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

it('a token that is valid for longer than a timer can wait cuts nothing', async () => {
  const livesMs = 40 * 24 * 3_600_000;
  const response = Object.assign(new EventEmitter(), { destroyed: false, destroy: jest.fn() });
  cutAtExpiry(response as never, { expiresAt: Date.now() + livesMs });
  const { server, finish } = await startTurn();
  const headers = { ...as('new'), 'x-lives-ms': String(livesMs) };
  const reply = await server.post('/api/chat/s1', { messages: [say('u1', 'go')] }, headers);
  await finish();
  const text = await reply.text();
  expect([text.includes('[DONE]'), text.includes('data-stream-resync')]).toEqual([true, false]);
  expect(response.destroy).not.toHaveBeenCalled();
  response.emit('close');
});
