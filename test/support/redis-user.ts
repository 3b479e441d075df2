import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { RedisCluster } from './redis-cluster.js';
import { newNonce } from './session-driver.js';

const OF_CLUSTER = ['+cluster|slots', '+cluster|info', '+asking'];

const DOCUMENT = new URL('../../docs/redis.md', import.meta.url);

const PASSWORD = 'secret';

/** A Redis user with exactly the rights that docs/redis.md lists. */
export interface RedisUser {
  /** Address of the server with this user's credentials. */
  url: string;
  /** Changes the rights by rules of ACL SETUSER. */
  change: (...rules: string[]) => Promise<void>;
}

/** @param rules additional rules of ACL SETUSER */
export async function createRedisUser(
  redis: Redis,
  prefix: string,
  ...rules: string[]
): Promise<RedisUser> {
  const name = `user-${newNonce()}`;
  const change = async (...changes: string[]): Promise<void> => {
    await redis.acl('SETUSER', name, ...changes);
  };
  await change('on', `>${PASSWORD}`, ...documentedRules(prefix), ...rules);
  const { host = '127.0.0.1', port = 6379 } = redis.options;
  return { url: `redis://${name}:${PASSWORD}@${host}:${String(port)}`, change };
}

/** Creates the user on each node of a cluster; returns the cluster's address as this user. */
export async function createClusterUser(
  { url, nodes }: Pick<RedisCluster, 'url' | 'nodes'>,
  prefix: string,
): Promise<string> {
  const name = `user-${newNonce()}`;
  const rules = [...documentedRules(prefix), ...OF_CLUSTER];
  for (const { ask } of nodes) {
    await ask((redis) => redis.acl('SETUSER', name, 'on', `>${PASSWORD}`, ...rules));
  }
  return url.replace('://', `://${name}:${PASSWORD}@`);
}

function documentedRules(prefix: string): string[] {
  const [, block] = /```\nACL SETUSER helix on >password ([^`]*)```/.exec(
    readFileSync(DOCUMENT, 'utf8'),
  ) ?? [undefined, ''];
  return block.replaceAll('hx:', `${prefix}:`).trim().split(/\s+/);
}
