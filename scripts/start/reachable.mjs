// Checks servers that were given by address.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../system/project.mjs';

// Long enough for a server that is still starting, short enough for a waiting person.
const WITHIN_MS = 6000;

export async function requireRedis(url, variable = 'REDIS_URL', withinMs = WITHIN_MS) {
  await requireAnyServer('Redis', parseRedisUrl(url, variable), variable, withinMs);
}

export async function requireTemporal(address, variable = 'TEMPORAL_ADDRESS') {
  const match = /^\[?([^\]/]+?)\]?:(\d{1,5})$/.exec(address);
  if (!match) throw new UserError(`${variable} is "${address}", but must be host:port.`);
  await requireAnyServer('Temporal', [{ host: match[1], port: Number(match[2]) }], variable);
}

/** One reachable host of a cluster or of the Sentinels is enough, because the processes find the others through it. */
async function requireAnyServer(name, servers, variable, withinMs = WITHIN_MS) {
  const anyAccepts = async () => (await Promise.all(servers.map(accepts))).includes(true);
  if (await waitUntil(anyAccepts, { withinMs, everyMs: 200 })) return;
  const where = servers.map(({ host, port }) => `${host}:${port}`).join(', ');
  throw new UserError(`${name} at ${where} (${variable}) cannot be reached.`);
}

/** Parses the hosts of `redis://host`, `redis-cluster://host,host` and `redis-sentinel://host,host/master`. */
function parseRedisUrl(url, variable) {
  const match = /^rediss?(-cluster|-sentinel)?:\/\/(?:[^@/]*@)?([^/?#]*)/i.exec(url);
  const defaultPort = match?.[1] === '-sentinel' ? 26379 : 6379;
  const servers = (match?.[2] ?? '').split(',').map((host) => toServer(host, defaultPort));
  if (match && servers.every((server) => server !== undefined)) return servers;
  throw new UserError(
    `${variable} must look like redis://host:6379, redis-cluster://host:6379,… or ` +
      'redis-sentinel://host:26379,…/master.',
  );
}

function toServer(text, defaultPort) {
  try {
    const { hostname, port } = new URL(`redis://${text}`);
    return {
      host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
      port: Number(port || defaultPort),
    };
  } catch {
    return undefined;
  }
}

/** Resolves to true if a server accepts connections. Never throws. */
export function accepts({ host, port }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.on('connect', () => finish(true)).on('error', () => finish(false));
  });
}

/** Polls until the check succeeds (true) or the time is up (false). */
export async function waitUntil(condition, { withinMs, everyMs = 50, signal }) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await condition()) return true;
    if (Date.now() + everyMs > deadline) return false;
    await delay(everyMs);
  }
}
