// Finds the TCP ports that a process and its descendants listen on, from Linux' tables.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';

/** Returns `[{ host, port }]`. */
export function listeningOf(pid) {
  const sockets = new Set(descendants(pid).flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === LISTEN && sockets.has(inode))
      .map(([, local]) => toAddress(local)),
  );
}

function descendants(pid) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)]);
  const found = [pid];
  for (const each of found) {
    found.push(...parents.filter(([, parent]) => parent === each).map(([child]) => child));
  }
  return found;
}

/** A process may end while it is inspected. */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function socketsOf(pid) {
  return filesOf(pid).flatMap((fd) => {
    // A file may close meanwhile; only that one is left out.
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
    } catch {
      return [];
    }
  });
}

function filesOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

/**
 * Linux writes IPv4 addresses as hexadecimal digits in the machine's (little-endian) byte order.
 */
function toAddress(local) {
  const [hex, port] = local.split(':');
  const host =
    hex.length === 8
      ? hex
          .match(/../g)
          .toReversed()
          .map((byte) => parseInt(byte, 16))
          .join('.')
      : `ipv6:${hex}`;
  return { host, port: parseInt(port, 16) };
}
