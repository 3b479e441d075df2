import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFollower } from '../../support/follower.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import { makeCertificate, type RedisCertificate } from '../../support/redis-certificate.js';
import { startCluster } from '../../support/redis-cluster.js';
import { startSentinelPair } from '../../support/redis-sentinel.js';
import { newSessionId, textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'helix-tls-'));
let tls: RedisCertificate;
const afterwards: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  tls = await makeCertificate(folder);
});
afterEach(async () => {
  await closeStores();
  for (const undo of afterwards.splice(0)) await undo();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('engines of several servers that demand client certificates', () => {
  it('sessions on each node of a cluster are written and followed', async () => {
    const cluster = await startCluster(tls);
    afterwards.push(cluster.close);
    expect(cluster.url).toMatch(/^rediss-cluster:/);
    const [worker, api] = [await openStores(cluster.url), await openStores(cluster.url, 'api')];
    const left = new Set([0, 1, 2]);
    while (left.size > 0) {
      const id = newSessionId();
      if (!left.delete(cluster.ownerOf(`hx:{${id}}:root`))) continue;
      const { say } = await openSpeaker(worker, id);
      const follower = startFollower(api.streamManager, id, 0);
      await say(...words(20));
      await until('the follower has them', () => follower.entries.length === 20);
      await follower.stop();
      expect(textIn(follower.entries)).toBe(words(20).join(''));
    }
  });

  it('writer and follower continue after Sentinels have replaced a master that was killed', async () => {
    const pair = await startSentinelPair(tls);
    afterwards.push(pair.close);
    const [worker, api] = [await openStores(pair.url), await openStores(pair.url, 'api')];
    const { session, say } = await openSpeaker(worker);
    const follower = startFollower(api.streamManager, session.id, 0);
    await say(...words(50));
    await until('the follower has them', () => follower.entries.length === 50);
    await until('the replica has all', () =>
      pair.replica.ask(
        async (redis) => Number(await redis.hget(`hx:{${session.id}}:root`, 'seq')) >= 50,
      ),
    );
    await pair.master.kill9();
    await say(...words(50, 50));
    await until('the rest has come', () => follower.entries.length === 100);
    await follower.stop();
    expect(textIn(follower.entries)).toBe(words(100).join(''));
  });
});
