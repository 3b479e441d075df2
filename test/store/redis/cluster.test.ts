import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cluster } from 'ioredis';
import { RedisStateStore, RedisStreamManager } from '../../../store/redis/index.js';
import { countSubscribers, startFollower, type Follower } from '../../support/follower.js';
import { answers, openStores } from '../../support/test-stores.js';
import { startCluster, type RedisCluster } from '../../support/redis-cluster.js';
import { slotOf } from '../../support/redis-slots.js';
import { createClusterUser } from '../../support/redis-user.js';
import { drive, newCall, newSessionId, textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';
import type { RedisProcess } from '../../support/redis-process.js';

/** Moves a slot to another node, as `redis-cli --cluster reshard` does. */
async function migrateSlot(
  slot: number,
  { from, to, others }: { from: RedisProcess; to: RedisProcess; others: RedisProcess[] },
): Promise<void> {
  const [fromId, toId] = await Promise.all(
    [from, to].map(({ ask }) => ask((redis) => redis.call('CLUSTER', 'MYID'))),
  );
  await to.ask((redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId)));
  await from.ask(async (redis) => {
    await redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
    for (;;) {
      const keys = (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length === 0) break;
      await redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 60_000, 'KEYS', ...keys);
    }
  });
  for (const { ask } of [to, from, ...others]) {
    await ask((redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId)));
  }
}

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.close();
});

/** Returns the id of a new session whose keys are on the given node. */
function sessionOn(node: number): string {
  for (;;) {
    const id = newSessionId();
    if (cluster.ownerOf(id) === node) return id;
  }
}

const sequences = ({ entries }: Follower): number[] => entries.map(({ sequence }) => sequence);

async function hasNode(node: 0 | 1 | 2, sessionId: string): Promise<boolean> {
  return (await cluster.nodes[node].ask((redis) => countSubscribers(redis, sessionId))) > 0;
}

async function says(state: string): Promise<boolean> {
  const info = await cluster.nodes[0].ask((redis) => redis.cluster('INFO'));
  return info.includes(state);
}

describe('on a cluster of three nodes', () => {
  it.concurrent.each([0, 1, 2])('a session on node %i goes its whole way', async (node) => {
    // This user has only the documented rights.
    const url = await createClusterUser(cluster, 'hx');
    const worker = await openStores(url, 'worker');
    const api = await openStores(url, 'api');
    const session = drive(worker, sessionOn(node));
    const follower = startFollower(api.streamManager, session.id, 0);
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'hello');
    await session.commit(writer, { calls: [newCall('a', 'approval')] });
    expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
    expect(await session.start(runId, 1, 'a')).toMatchObject({ kind: 'execute' });
    expect(await session.finishCall(runId, 1, 'a', 42)).toMatchObject({ kind: 'stored' });
    await session.ask(runId, 2, []);
    await until('the end has come', () =>
      follower.entries.some(({ message }) => message.type === 'stream_end'),
    );
    await follower.stop();
    expect(follower.entries).toEqual(await session.log());
    expect(await api.store.sessions.read(session.id)).toMatchObject({ status: 'completed' });
    expect((await api.settings()).warnings).toEqual([]);
  });

  it.concurrent('a request with a key of its own is noted on whichever node', async () => {
    const { store } = await openStores(cluster.url, 'api');
    const names = Array.from('abcdefgh');
    const claimed = await Promise.all(names.map((name) => store.requests.claim(name, 'd', 60_000)));
    expect(claimed).toEqual(names.map(() => ({ kind: 'new' })));
  });

  it.concurrent(
    'followers of all nodes lose nothing when their subscriptions are cut',
    async () => {
      const worker = await openStores(cluster.url, 'worker');
      const api = await openStores(cluster.url, 'api');
      const speakers = await Promise.all([0, 1, 2].map((n) => openSpeaker(worker, sessionOn(n))));
      const followers = speakers.map(({ session }) =>
        startFollower(api.streamManager, session.id, 0),
      );
      const sent = words(200);
      for (const [n, word] of sent.entries()) {
        await Promise.all(speakers.map(({ say }) => say(word)));
        if (n % 60 === 30) {
          for (const { ask } of cluster.nodes) {
            await ask((redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
          }
        }
      }
      for (const follower of followers) {
        await until('all has come', () => follower.entries.length >= sent.length);
        await follower.stop();
        expect(textIn(follower.entries)).toBe(sent.join(''));
        expect(sequences(follower)).toEqual(sent.map((_, n) => n + 1));
      }
    },
  );

  // The other test cuts subscriptions, after which a follower finds the moved slot in any case.
  it('a slot that moves to another node takes its writer and followers along', async () => {
    const worker = await openStores(cluster.url, 'worker');
    const api = await openStores(cluster.url, 'api');
    const { session, say } = await openSpeaker(worker, sessionOn(0));
    const follower = startFollower(api.streamManager, session.id, 0);
    await say('first ');
    await until('it is live', () => follower.entries.length === 1);
    const sent = words(300);
    const speaking = say(...sent);
    await until('the writer is in the middle', () => follower.entries.length > 50);
    const [from, to, other] = cluster.nodes;
    await migrateSlot(slotOf(session.id), { from, to, others: [other] });
    await speaking;
    await until('all has come', () => follower.entries.length >= sent.length + 1);
    await until('it is subscribed at the new owner', () => hasNode(1, session.id));
    await say('last');
    await until('the last has come', () => follower.entries.length >= sent.length + 2);
    await follower.stop();
    expect(textIn(follower.entries)).toBe(`first ${sent.join('')}last`);
    expect(await to.ask((redis) => redis.exists(`hx:{${session.id}}:stream`))).toBe(1);
  });

  it('stores that are closed while they connect let their process end', async () => {
    const script = fileURLToPath(new URL('./open-and-close.mjs', import.meta.url));
    // `execFile` rejects if the process has to be killed.
    await promisify(execFile)(process.execPath, [script, cluster.url], { timeout: 60_000 });
  });

  it('a node that is killed and comes back leaves no gap and no double', async () => {
    const worker = await openStores(cluster.url, 'worker');
    const api = await openStores(cluster.url, 'api');
    const { session, say } = await openSpeaker(worker, sessionOn(2));
    const follower = startFollower(api.streamManager, session.id, 0);
    const sent = words(120);
    const speaking = say(...sent);
    await until('the writer is in the middle', () => follower.entries.length > 30);
    await cluster.nodes[2].kill9();
    // The outage outlasts any fixed number of tries by the worker.
    await until('the others know that the cluster is down', () => says('cluster_state:fail'));
    await cluster.nodes[2].start();
    await speaking;
    await until('all has come', () => follower.entries.length >= sent.length);
    await follower.stop();
    expect(textIn(follower.entries)).toBe(sent.join(''));
    expect(sequences(follower)).toEqual(sent.map((_, n) => n + 1));
    await until('the cluster is whole again', () => says('cluster_state:ok'));
    await until('the API has the whole cluster again', () => answers(api));
  });

  it("the stores accept the caller's cluster connection, and open their own for subscriptions", async () => {
    // With ioredis's own settings the client does not wait for a node that is starting.
    await until('all nodes see a whole cluster', async () => {
      const infos = await Promise.all(
        cluster.nodes.map(({ ask }) => ask((redis) => redis.cluster('INFO'))),
      );
      return infos.every((info) => info.includes('cluster_state:ok'));
    });
    const redis = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    const streamManager = new RedisStreamManager(redis);
    const stores = { store: new RedisStateStore(redis), streamManager };
    const { session, say } = await openSpeaker(stores, sessionOn(1));
    const follower = startFollower(streamManager, session.id, 0);
    await until('it is subscribed', () => hasNode(1, session.id));
    await say('a', 'b');
    await until('both came', () => follower.entries.length === 2);
    await follower.stop();
    await streamManager.close();
    expect(() => new RedisStreamManager(redis, redis)).toThrow(/shardedSubscribers/);
    redis.disconnect();
  });

  it('a master that is added later, or has lost the scripts, gets them by who needs them', async () => {
    const worker = await openStores(cluster.url, 'worker');
    const api = await openStores(cluster.url, 'api');
    const { session, say, runId } = await openSpeaker(worker, sessionOn(2));
    await say('a');
    expect((await api.store.sessions.view(session.id))?.record.runId).toBe(runId);
    const added = await cluster.add();
    const [first, second, from] = cluster.nodes;
    await migrateSlot(slotOf(session.id), { from, to: added, others: [first, second] });
    await say('b');
    // A client that does not wait may be refused while it connects to a new node.
    const reads = () => api.store.sessions.read(session.id);
    await until('the API reaches the new owner', () => reads().then(Boolean, () => false));
    // The API's client refuses to wait, and the node has lost the scripts again.
    await added.ask((redis) => redis.script('FLUSH'));
    expect(await drive(api, session.id).stop()).toMatchObject({ kind: 'stopping' });
    expect(textIn(await session.log())).toBe('ab');
    expect(await added.ask((redis) => redis.exists(`hx:{${session.id}}:stream`))).toBe(1);
  });
});
