// Which TCP ports a process and all that it has started listen on, by Linux' own tables.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';

/** `[{ host, port }]` */
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

/** A process may end while it is looked at. */
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
    // A file may close while the others are read: it alone is left out.
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

/** IPv4 in the order of this machine's bytes (little-endian), as hexadecimal digits. */
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
