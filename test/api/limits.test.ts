import { once } from 'node:events';
import type { Socket } from 'node:net';
import { MemoryStore } from 'express-rate-limit';
import type { ApiDeps } from '../../api/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import type { Play } from '../support/played-turn.js';
import { connectRaw, type RawConnection } from '../support/raw-http.js';
import { until } from '../support/until.js';
import { greets, say, startApi, type ApiServer, type StartOptions } from './api-server.js';

const authenticate: ApiDeps['authenticate'] = (request) => {
  const [userId, tenantId] = (request.get('x-user') ?? '').split('@');
  if (!userId) return undefined;
  return { userId, ...(tenantId !== undefined && { tenantId }) };
};

const start = (options: StartOptions): Promise<ApiServer> =>
  startApi({ defaultAgent: 'lab', ...options });

const as = (user: string): Record<string, string> => ({ 'x-user': user });

async function stop(server: ApiServer, headers = as('ann')): Promise<Response> {
  const response = await server.post('/api/chat/s1/stop', {}, headers);
  await response.clone().text();
  return response;
}

describe('requests that may change something', () => {
  it('the requests of a sender above the limit are refused, those of others are not', async () => {
    const server = await start({ authenticate, limits: { requestsPerMinute: 2 } });
    const allowed = await stop(server);
    expect(allowed.status).toBe(404);
    expect(allowed.headers.get('ratelimit')).toMatch(/r=1/);
    expect((await stop(server)).status).toBe(404);

    const refused = await stop(server);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'too_many_requests' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-policy')).toMatch(/q=2/);
    // The same name in another tenant is another user, and reads are free.
    expect((await stop(server, as('bob'))).status).toBe(404);
    expect((await stop(server, as('ann@acme'))).status).toBe(404);
    expect((await server.get('/api/chat/s1/snapshot', as('ann'))).status).toBe(404);
  });

  it('requests are counted before their body is read, and not for strangers', async () => {
    const server = await start({ authenticate, limits: { requestsPerMinute: 1 } });
    expect((await stop(server, {})).status).toBe(401);
    expect((await server.post('/api/chat/s1', '{', as('ann'))).status).toBe(400);
    expect((await server.post('/api/chat/s1', '{', as('ann'))).status).toBe(429);
  });

  it('the default limit stops a page that posts in a loop within the first minute', async () => {
    const server = await start({ authenticate });
    const statuses: number[] = [];
    for (let n = 0; n < 125; n += 1) statuses.push((await stop(server)).status);
    expect(statuses.filter((status) => status !== 429)).toHaveLength(120);
  });

  it('processes that share a store count requests together', async () => {
    const store = new MemoryStore();
    const limits = { requestsPerMinute: 1, store };
    const one = await start({ authenticate, limits });
    const two = await start({ authenticate, limits });
    expect((await stop(one)).status).toBe(404);
    expect((await stop(two)).status).toBe(429);
  });

  it('requests pass while they cannot be counted, and the log says so', async () => {
    const broken = new MemoryStore();
    broken.increment = () => Promise.reject(new Error('the store is away'));
    const server = await start({ authenticate, limits: { requestsPerMinute: 1, store: broken } });
    expect((await stop(server)).status).toBe(404);
    expect((await stop(server)).status).toBe(404);
    expect(server.logged.join()).toContain('requests cannot be counted');
  });

  it('requests without accounts are unlimited unless a limit is set, which counts by address', async () => {
    const open = await start({});
    for (let n = 0; n < 130; n += 1) expect((await stop(open)).status).toBe(404);
    const limited = await start({ limits: { requestsPerMinute: 1 }, trustedProxies: 1 });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    expect((await stop(limited, from('192.0.2.1'))).status).toBe(404);
    expect((await stop(limited, from('192.0.2.1'))).status).toBe(429);
    expect((await stop(limited, from('192.0.2.2'))).status).toBe(404);
  });
});

describe('bodies in flight', () => {
  const KB = 1024;
  const body = JSON.stringify({ reason: 'x'.repeat(700 * KB) });
  const sockets: Socket[] = [];
  const options: StartOptions = {
    limits: { bodyBytes: 1_024 * KB },
    authenticate: (request) => {
      sockets.push(request.socket);
      return authenticate(request);
    },
  };

  /** Sends a body without its last byte. */
  async function sendMost(server: ApiServer, user: string): Promise<RawConnection> {
    const connection = await connectRaw(server.url);
    const head = [
      'POST /api/chat/s1/stop HTTP/1.1',
      'host: test',
      `x-user: ${user}`,
      'content-type: application/json',
      `content-length: ${String(body.length)}`,
    ];
    const before = sockets.length;
    connection.send(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`);
    await until('the body has arrived', () => (sockets[before]?.bytesRead ?? 0) >= body.length);
    return connection;
  }

  it('the bytes in flight of one sender are bounded until they are read, those of others are not', async () => {
    const server = await start(options);
    const post = async (user: string): Promise<number> =>
      (await server.post('/api/chat/s1/stop', body, as(user))).status;
    // One alone is read, and refused for its content only.
    expect(await post('ann')).toBe(400);
    const slow = await sendMost(server, 'ann');
    expect(await post('ann')).toBe(429);
    expect(await post('bob')).toBe(400);
    const file = { ...as('ann'), 'content-type': 'image/png' };
    const refused = await server.post('/api/chat/s1/files', body, file);
    expect(refused.status).toBe(429);
    const { 'retry-after': wait, 'cache-control': cached } = Object.fromEntries(refused.headers);
    expect([wait, cached]).toEqual(['1', 'no-store']);
    slow.send(body.slice(-1));
    expect((await slow.reply).status).toBe(400);
    expect(await post('ann')).toBe(400);
  });

  it('a sender that disconnects frees its bytes in flight', async () => {
    const server = await start(options);
    const post = (): Promise<Response> => server.post('/api/chat/s1/stop', body, as('ann'));
    const slow = await sendMost(server, 'ann');
    expect(await (await post()).json()).toMatchObject({ code: 'too_many_requests' });
    slow.socket.destroy();
    await until('the bytes are freed', async () => (await post()).status === 400);
  });
});

describe('open streams', () => {
  /** Writes some text and stays silent until it is stopped. */
  const play: Play = (turn) => turn.say('Hm.');
  const open = (server: ApiServer, id: string, signal: AbortSignal, user = 'ann') =>
    fetch(`${server.url}/api/chat/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(user) },
      body: JSON.stringify({ messages: [say('u1', 'hi')] }),
      signal,
    });

  it('a stream above the limit is refused before a run begins, and a reader that leaves frees its slot', async () => {
    const server = await start({ authenticate, limits: { openStreams: 2 }, play });
    const readers = [new AbortController(), new AbortController(), new AbortController()] as const;
    expect((await open(server, 's1', readers[0].signal)).status).toBe(200);
    expect((await open(server, 's2', readers[1].signal)).status).toBe(200);
    const refused = await open(server, 's3', readers[2].signal);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'too_many_streams' });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await server.stores.store.sessions.read('s3')).toBeUndefined();
    expect((await server.get('/api/chat/s1', as('ann'))).status).toBe(429);
    expect((await server.get('/api/agent/sse?sessionId=s1', as('ann'))).status).toBe(429);
    // Other requests pass, and so do other users' streams.
    expect((await server.get('/api/chat/s1/snapshot', as('ann'))).status).toBe(200);
    expect((await open(server, 's4', readers[2].signal, 'bob')).status).toBe(200);

    readers[0].abort();
    await until('a slot is free', async () => {
      const again = await open(server, 's3', readers[2].signal);
      return again.status === 200;
    });
    for (const reader of readers) reader.abort();
  });

  it('a reader that left before its stream began takes no slot', async () => {
    const server = await start({
      limits: { openStreams: 1 },
      authenticate: async (request) => {
        if (request.get('x-leaves') !== undefined) {
          request.socket.destroy();
          if (request.res !== undefined) await once(request.res, 'close');
        }
        return authenticate(request);
      },
    });
    const leaving = server.get('/api/chat/unknown', { ...as('ann'), 'x-leaves': '1' });
    await expect(leaving).rejects.toThrow('fetch failed');
    expect((await server.get('/api/chat/unknown', as('ann'))).status).toBe(204);
  });

  it('a stream frees its slot however it ends', async () => {
    let end: 'done' | 'cut' | 'wait' = 'done';
    const stores = createMemoryStores();
    const log = stores.streamManager;
    const server = await start({
      authenticate,
      limits: { openStreams: 1 },
      stores,
      streamManager: {
        read: log.read.bind(log),
        async *follow(...args) {
          for await (const entries of log.follow(...args)) {
            if (end === 'cut') throw new Error('the log broke off');
            yield entries;
          }
        },
      },
      play: (turn) => (end === 'wait' ? turn.say('Hello.') : greets(turn, '')),
    });
    const { signal } = new AbortController();
    /** Whether the one slot is free, by a request that needs it. */
    const isFree = async () => (await server.get('/api/chat/unknown', as('ann'))).status === 204;

    await (await open(server, 'ends', signal)).text();
    await until('the slot is free after an end', isFree);
    end = 'cut';
    await (await open(server, 'breaks', signal)).text().catch(() => undefined);
    await until('the slot is free after a cut', isFree);
    expect((await server.post('/api/chat/bad', '{', as('ann'))).status).toBe(400);
    await until('the slot is free after a refusal', isFree);
    end = 'wait';
    const leaving = new AbortController();
    await open(server, 'leaves', leaving.signal);
    expect(await isFree()).toBe(false);
    leaving.abort();
    await until('the slot is free when the reader has left', isFree);
  });
});
