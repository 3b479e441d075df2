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
const servers: { close: () => Promise<void> }[] = [];
beforeAll(async () => {
  tls = await makeCertificate(folder);
});
afterAll(async () => {
  await closeStores();
  await Promise.all(servers.map((each) => each.close()));
  rmSync(folder, { recursive: true });
});

/** Writes to a session and follows it from another process. */
async function speakTo(url: string, id?: string): Promise<void> {
  const [worker, api] = [await openStores(url), await openStores(url, 'api')];
  const { session, say } = await openSpeaker(worker, id);
  const follower = startFollower(api.streamManager, session.id, 0);
  await say(...words(20));
  await until('the follower has them', () => follower.entries.length === 20);
  await follower.stop();
  expect(textIn(follower.entries)).toBe(words(20).join(''));
}

describe('engines of several servers that demand client certificates', () => {
  it.concurrent('sessions on each node of a cluster are written and followed', async () => {
    const cluster = await startCluster(tls);
    servers.push(cluster);
    expect(cluster.url).toMatch(/^rediss-cluster:/);
    const ids = Array.from({ length: 1_000 }, () => newSessionId());
    for (const node of [0, 1, 2]) {
      await speakTo(
        cluster.url,
        ids.find((id) => cluster.ownerOf(`hx:{${id}}:root`) === node),
      );
    }
  });

  it.concurrent('a session behind Sentinels is written and followed', async () => {
    const pair = await startSentinelPair(tls);
    servers.push(pair);
    await speakTo(pair.url);
  });
});
