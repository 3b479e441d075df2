import { claimAnyPort } from '../../scripts/system/ports.mjs';
import { filesIn, tlsSettings, type RedisCertificate } from './redis-certificate.js';
import { dataArguments, startRedisProcess, type RedisProcess } from './redis-process.js';
import { slotOf, SLOTS } from './redis-slots.js';
import { until } from './until.js';

/** Three masters on loopback that each own a third of the slots. */
export interface RedisCluster {
  /** Address for `createRedisStores` that names every node. */
  readonly url: string;
  readonly nodes: readonly [RedisProcess, RedisProcess, RedisProcess];
  /** Returns the node that owned a key's slot at the start: 0, 1 or 2. */
  ownerOf: (key: string) => number;
  /** Adds a master without slots to the cluster. */
  add: () => Promise<RedisProcess>;
  close: () => Promise<void>;
}

/** @param tls if set, clients and nodes speak only TLS and show this certificate */
export async function startCluster(tls?: RedisCertificate): Promise<RedisCluster> {
  const nodes = await Promise.all([startNode(tls), startNode(tls), startNode(tls)]);
  const share = Math.ceil(SLOTS / nodes.length);
  try {
    await Promise.all(
      nodes.map(({ ask }, n) =>
        ask((redis) =>
          redis.cluster('ADDSLOTSRANGE', n * share, Math.min((n + 1) * share, SLOTS) - 1),
        ),
      ),
    );
    await meet(nodes);
    await Promise.all(nodes.map((node) => until('the cluster is whole', () => isWhole(node))));
  } catch (error) {
    await Promise.all(nodes.map((node) => node.close()));
    throw error;
  }
  const added: RedisProcess[] = [];
  return {
    url: toUrl(nodes, tls),
    nodes,
    ownerOf: (key) => Math.floor(slotOf(key) / share),
    add: async () => {
      const node = await startNode(tls);
      added.push(node);
      await meet([nodes[0], node]);
      const known = nodes.length + added.length;
      for (const each of [...nodes, ...added]) {
        await until('all know it', () => isWhole(each, known));
      }
      return node;
    },
    close: async () => {
      await Promise.all([...nodes, ...added].map((node) => node.close()));
    },
  };
}

/** Starts one master that owns all slots, so plain clients can use it. */
export async function startOneNodeCluster(): Promise<RedisProcess> {
  const node = await startNode(undefined);
  await node.ask((redis) => redis.cluster('ADDSLOTSRANGE', 0, SLOTS - 1));
  await until('the cluster is whole', () => isWhole(node, 1));
  return node;
}

/** A node with the ports by which its peers and clients reach it. */
type Node = RedisProcess & { busPort: number; publicPort: number };

function toUrl(nodes: readonly Node[], tls: RedisCertificate | undefined): string {
  const hosts = nodes.map(({ publicPort }) => `127.0.0.1:${String(publicPort)}`).join(',');
  return tls ? `rediss-cluster://${hosts}${filesIn(tls)}` : `redis-cluster://${hosts}`;
}

async function startNode(tls: RedisCertificate | undefined): Promise<Node> {
  // The default bus port (port + 10,000) may be taken or out of range.
  const busPort = await claimAnyPort();
  const tlsPort = tls && (await claimAnyPort());
  const settings = {
    ...(tls && tlsPort && { ...tlsSettings(tls, tlsPort), 'tls-cluster': 'yes' }),
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-node-timeout': 2000,
    'cluster-config-file': 'nodes.conf',
  };
  const node = await startRedisProcess((where) => dataArguments(where, settings));
  return { ...node, busPort, publicPort: tlsPort ?? node.port };
}

async function meet([first, ...others]: Node[]): Promise<void> {
  for (const { publicPort, busPort } of others) {
    await first?.ask((redis) => redis.call('CLUSTER', 'MEET', '127.0.0.1', publicPort, busPort));
  }
}

async function isWhole({ ask }: RedisProcess, nodes = 3): Promise<boolean> {
  const info = await ask((redis) => redis.cluster('INFO'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${String(nodes)}`);
}
