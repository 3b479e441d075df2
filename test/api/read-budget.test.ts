import { createReadBudget, roomFor, type CountRead } from '../../api/middleware/read-budget.js';
import { say, startOnMemory, type ApiServer } from './api-server.js';

const KB = 1024;
const MB = KB * KB;
const fail = (): never => {
  throw new Error('it is not refused');
};

describe('what one sender may read', () => {
  let now = 0;
  let waits: number[] = [];
  beforeEach(() => {
    now = 0;
    waits = [];
  });

  function readersOf(perMinute: number): (key: string, hasBegun?: boolean) => CountRead {
    const budget = createReadBudget(perMinute, () => now);
    return (key, hasBegun = false) =>
      budget({
        key,
        signal: new AbortController().signal,
        hasBegun: () => hasBegun,
        onRefusal: (seconds) => waits.push(seconds),
      });
  }

  /** The outcome of a read of so many bytes, in pages of 100 KB. */
  async function read(as: CountRead, bytes: number): Promise<string> {
    try {
      return await as(async (meter) => {
        for (let left = bytes; left > 0; left -= 100 * KB) {
          await meter?.take(Math.min(left, 100 * KB));
        }
        return 'read';
      });
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  it('is everything, then an ordinary page, then nothing', () => {
    expect([0, 99, 100, 199, 200].map((spent) => roomFor(spent, 100))).toEqual([
      Infinity,
      Infinity,
      256 * KB,
      256 * KB,
      0,
    ]);
  });

  it('a large read is refused once the minute is spent, and small ones and those of others are not', async () => {
    const as = readersOf(10 * MB);
    expect(await read(as('eve'), 40 * MB)).toBe('read');
    now += 90_000;
    expect(await read(as('eve'), 40 * MB)).toBe('too_many_requests');
    expect(waits).toEqual([32]);
    expect(await read(as('eve'), 200 * KB)).toBe('read');
    expect(await read(as('bob'), 40 * MB)).toBe('read');
    now += 34_000;
    expect(await read(as('eve'), 40 * MB)).toBe('read');
    expect(await read(as('eve'), 1)).toBe('too_many_requests');
  });

  it('a reply that has begun waits until there is room, or its reader leaves', async () => {
    const budget = createReadBudget(MB, () => now);
    const left = new AbortController();
    const as = budget({ key: 'eve', signal: left.signal, hasBegun: () => true, onRefusal: fail });
    expect(await read(as, 3 * MB)).toBe('read');
    const waiting = read(as, KB);
    left.abort();
    expect(await waiting).toBe('too_many_requests');
    now += 61_000;
    expect(await read(as, KB)).toBe('read');
  });

  it('two large reads of one sender go on at once, and the next ones in turns with others', async () => {
    const as = readersOf(1_000 * MB);
    const going: string[] = [];
    const ends: (() => void)[] = [];
    const begin = (key: string): Promise<void> =>
      as(key)(async (meter) => {
        await meter?.take(2 * MB);
        going.push(key);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = ['eve', 'eve', 'eve', 'eve', 'bob', 'bob', 'ivy'].map(begin);
    await new Promise(setImmediate);
    expect(going).toEqual(['eve', 'eve', 'bob', 'bob']);
    ends[0]?.();
    await new Promise(setImmediate);
    expect(going.slice(4)).toEqual(['eve']);
    ends[1]?.();
    await new Promise(setImmediate);
    expect(going.slice(5)).toEqual(['ivy']);
    for (let n = 2; n < all.length; n += 1) {
      ends[n]?.();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
  });

  it('a sender of whom many large reads wait is refused another one', async () => {
    const as = readersOf(1_000 * MB);
    const begin = (): Promise<unknown> =>
      as('eve')(async (meter) => {
        await meter?.take(2 * MB);
        await new Promise(() => undefined);
      });
    const all = Array.from({ length: 11 }, begin);
    // Those that wait are refused after this test.
    for (const each of all) each.catch(() => undefined);
    await expect(all.at(-1)).rejects.toMatchObject({ code: 'too_many_requests' });
  });
});

describe('over HTTP', () => {
  const LARGE = 'x'.repeat(400 * KB);
  const LIMIT = 700 * KB;
  let api: ApiServer;
  beforeEach(async () => {
    api = await startOnMemory({ limits: { readBytesPerMinute: LIMIT, requestsPerMinute: 0 } });
    for (const [id, text] of [['large', LARGE] as const, ['small', 'hi'] as const]) {
      const reply = await api.post(`/api/chat/${id}`, { messages: [say('u1', text)] }, as('eve'));
      await reply.body?.cancel();
    }
  });

  const as = (user: string): Record<string, string> => ({ 'x-user': user });
  const get = (path: string, user = 'eve'): Promise<Response> => api.get(path, as(user));

  it('whoever has read too much is told when to come again, and others read on', async () => {
    for (const path of ['snapshot', 'messages?limit=1']) {
      expect((await get(`/api/chat/large/${path}`)).status).toBe(200);
    }
    const refused = await get('/api/chat/large/messages?limit=1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'too_many_requests' });
    expect((await get('/api/chat/small/snapshot')).status).toBe(200);
    expect((await get('/api/operator/sessions/large', 'olga@@operator')).status).toBe(200);
  });

  it('a copy counts as what is read for it', async () => {
    const copy = (sessionId: string): Promise<Response> =>
      api.post('/api/chat/large/branch', { sessionId }, as('eve'));
    expect([(await copy('c1')).status, (await copy('c2')).status]).toEqual([201, 201]);
    expect((await copy('c3')).status).toBe(429);
    expect((await get('/api/chat/small/snapshot')).status).toBe(200);
  });
});
