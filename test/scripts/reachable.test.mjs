import { createServer } from 'node:net';
import { requireRedis } from '../../scripts/start/reachable.mjs';
import { listen } from '../support/listen.js';

let there;
beforeAll(async () => {
  const { host, port } = await listen(createServer((socket) => socket.destroy()));
  there = `${host}:${port}`;
});

describe('a Redis given by address', () => {
  it.each([
    ['alone', (host) => `redis://${host}`],
    ['with a password', (host) => `rediss://user:p%40ss@${host}/2`],
    ['as a cluster, of which one node is enough', (host) => `redis-cluster://127.0.0.1:1,${host}`],
    ['behind Sentinels', (host) => `redis-sentinel://${host},127.0.0.1:1/mymaster/0`],
  ])('a Redis given by address is reachable %s', async (_name, toUrl) => {
    await expect(requireRedis(toUrl(there))).resolves.toBeUndefined();
  });

  it.each(['localhost:6379', 'http://localhost', 'redis://a b', 'redis-cluster://a,b c'])(
    'a Redis address is refused as %s, without repeating it',
    async (url) => {
      const refusal = await requireRedis(url, 'SOME_URL').catch(({ message }) => message);
      expect(refusal).toContain('SOME_URL must look like');
      expect(refusal).not.toContain(url);
    },
  );

  it('an unreachable Redis is reported by its hosts, never by its password', async () => {
    const url = 'redis-cluster://:secret@127.0.0.1:1,127.0.0.1:2';
    const refusal = await requireRedis(url, 'SOME_URL', 0).catch(({ message }) => message);
    expect(refusal).toContain('127.0.0.1:1, 127.0.0.1:2');
    expect(refusal).not.toContain('secret');
  });
});
