import { startFollower } from '../../support/follower.js';
import { textIn } from '../../support/session-driver.js';
import { openSpeaker } from '../../support/speaker.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { answers, closeStores, openStores, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

/** Time limit for replacing a silent connection, with room for a slow machine. */
const REPLACED_MS = 20_000;

const wires: TcpProxy[] = [];

afterAll(async () => {
  await closeStores();
  await Promise.all(wires.map((wire) => wire.close()));
});

async function startWire(): Promise<{ wire: TcpProxy; url: string }> {
  const wire = await startTcpProxy(Number(new URL(sharedRedisUrl()).port));
  wires.push(wire);
  return { wire, url: `redis://127.0.0.1:${String(wire.port)}` };
}

describe('a connection whose packets vanish', () => {
  it.concurrent(
    'a silent connection is replaced under a writer, which loses and repeats nothing',
    async () => {
      const { wire, url } = await startWire();
      const { session, say } = await openSpeaker(await openStores(url));
      await say('before');
      wire.swallow();
      await say(' after');
      expect(textIn(await session.log())).toBe('before after');
    },
  );

  it.concurrent('a silent connection is replaced under an idle API', async () => {
    const { wire, url } = await startWire();
    const stores = await openStores(url, 'api');
    await until('all connections', () => wire.connections() === 3);
    wire.swallow();
    await until('new ones', () => wire.connections() === 6, REPLACED_MS);
    await until('Redis answers', () => answers(stores), REPLACED_MS);
  });

  it.concurrent('a silent connection is replaced under a follower that only listens', async () => {
    const { wire, url } = await startWire();
    const { session, say } = await openSpeaker(await openStores(sharedRedisUrl()));
    await say('before');
    const follower = startFollower((await openStores(url, 'api')).streamManager, session.id, 0);
    await until('the follower listens', () => textIn(follower.entries) === 'before');
    wire.swallow();
    await say(' after');
    await until('the follower hears', () => textIn(follower.entries) === 'before after');
    await follower.stop();
  });
});
