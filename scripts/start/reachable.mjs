// Servers that were given by address: they are not started here, only checked.
import { connect } from 'node:net';
import { UserError } from '../system/user-error.mjs';
import { waitUntil } from './wait-until.mjs';

// Long enough for a server that is starting beside us, short enough for a person who waits.
const WITHIN_MS = 6000;

export async function requireRedis(url, variable = 'REDIS_URL') {
  const { host, port } = parseRedisUrl(url, variable);
  await requireServer('Redis', host, port, variable);
}

export async function requireTemporal(address, variable = 'TEMPORAL_ADDRESS') {
  const match = /^\[?([^\]/]+?)\]?:(\d{1,5})$/.exec(address);
  if (!match) throw new UserError(`${variable} is "${address}", but must be host:port.`);
  await requireServer('Temporal', match[1], Number(match[2]), variable);
}

async function requireServer(name, host, port, variable) {
  if (await waitUntil(() => accepts(host, port), { withinMs: WITHIN_MS, everyMs: 200 })) return;
  throw new UserError(`${name} at ${host}:${port} (${variable}) cannot be reached.`);
}

function parseRedisUrl(url, variable) {
  try {
    const { protocol, hostname, port } = new URL(url);
    if (protocol === 'redis:' || protocol === 'rediss:') {
      return { host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port || 6379) };
    }
  } catch {
    // Reported below: whatever is wrong with it, the remedy is the same.
  }
  throw new UserError(`${variable} must look like redis://host:6379 or rediss://….`);
}

function accepts(host, port) {
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
