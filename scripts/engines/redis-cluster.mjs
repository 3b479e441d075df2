// Runs a Redis Cluster as companies do: three masters, each with a replica.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../start/reachable.mjs';
import { createEngine } from './engine-process.mjs';
import { claimLowPort } from '../system/ports.mjs';
import { isRedisReady, redisArguments } from './redis.mjs';

const MASTERS = 3;
const SLOTS = 16_384;
const WHOLE_WITHIN_MS = 30_000;

/**
 * Nodes listen on 127.0.0.1 and announce the address `announced`, so that the caller can put a faulty wire
 * before each; `reach` creates the wire.
 *
 * @param keep called with each engine before it runs
 * @param reach makes `<announced>:<port>` lead to the process on that port
 */
export async function startRedisCluster({
  file,
  folder,
  keep,
  announced = '127.0.0.1',
  reach = () => {},
}) {
  const { Redis } = await import('ioredis');
  const nodes = await Promise.all(
    Array.from({ length: 2 * MASTERS }, (_, n) =>
      startNode({ file, folder: join(folder, String(n)), announced, keep }),
    ),
  );
  for (const { name, port, busPort } of nodes) await reach(name, [port, busPort]);
  const ask = async (node, ...command) => {
    const redis = new Redis({ port: node.port, lazyConnect: true, retryStrategy: null });
    redis.on('error', () => {});
    try {
      await redis.connect();
      return await redis.call(...command);
    } finally {
      if (redis.status !== 'end') redis.disconnect();
    }
  };
  const [first, ...others] = nodes;
  for (const { port, busPort } of others) {
    await ask(first, 'CLUSTER', 'MEET', announced, port, busPort);
  }
  const share = Math.ceil(SLOTS / MASTERS);
  for (const [n, node] of nodes.slice(0, MASTERS).entries()) {
    const last = Math.min((n + 1) * share, SLOTS) - 1;
    await ask(node, 'CLUSTER', 'ADDSLOTSRANGE', n * share, last);
  }
  await until('all nodes know each other', async () => {
    const infos = await Promise.all(nodes.map((node) => ask(node, 'CLUSTER', 'INFO')));
    return infos.every(
      (info) =>
        info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`),
    );
  });
  for (const [n, replica] of nodes.slice(MASTERS).entries()) {
    const id = await ask(nodes[n], 'CLUSTER', 'MYID');
    // The replica may know the master but not its slots yet.
    await until('the replica follows', () =>
      ask(replica, 'CLUSTER', 'REPLICATE', id).then(
        () => true,
        () => false,
      ),
    );
  }
  const cluster = {
    url: `redis-cluster://${nodes.map(({ port }) => `${announced}:${port}`).join(',')}`,
    nodes,
    /** Returns the nodes that own slots now. */
    masters: async () => {
      const roles = await Promise.all(
        nodes.map((node) =>
          ask(node, 'ROLE').then(
            ([role]) => role,
            () => 'dead',
          ),
        ),
      );
      return nodes.filter((_, n) => roles[n] === 'master');
    },
    /** Resolves when every slot has a master with a replica that has caught up. */
    untilWhole: () => until('the cluster is whole', () => areWhole(nodes, ask).catch(() => false)),
  };
  await cluster.untilWhole();
  return cluster;
}

async function startNode({ file, folder, announced, keep }) {
  mkdirSync(folder, { recursive: true });
  const [port, busPort] = [await claimLowPort(), await claimLowPort()];
  const engine = createEngine({
    name: `redis-${port}`,
    file,
    args: redisArguments({
      port,
      folder,
      'cluster-enabled': 'yes',
      'cluster-port': busPort,
      'cluster-announce-ip': announced,
      'cluster-config-file': 'nodes.conf',
      'cluster-node-timeout': 2_000,
    }),
    isReady: () => isRedisReady({ port }),
    folder,
  });
  keep(engine);
  await engine.restart();
  return Object.assign(engine, { port, busPort });
}

async function areWhole(nodes, ask) {
  let masters = 0;
  for (const node of nodes) {
    if (!(await ask(node, 'CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
    const info = await ask(node, 'INFO', 'replication');
    if (info.includes('role:slave')) {
      if (!info.includes('master_link_status:up')) return false;
    } else if (/state=online/.test(info)) masters += 1;
    else return false;
  }
  return masters === MASTERS;
}

async function until(what, check) {
  if (await waitUntil(check, { withinMs: WHOLE_WITHIN_MS, everyMs: 100 })) return;
  throw new Error(`Redis Cluster: after ${WHOLE_WITHIN_MS / 1000} s it does not hold that ${what}`);
}
