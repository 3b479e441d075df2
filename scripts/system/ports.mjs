// Finds free TCP ports even if several copies of the product start at the same moment.
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './file-lock.mjs';
import { UserError } from './project.mjs';

const SEARCH_RANGE = 200;

/** Resolves to true if a server could listen there now. Throws for an address that this machine lacks. */
export function isPortFree(port, host = '127.0.0.1') {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code }) => {
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else reject(new UserError(`A server cannot listen on ${host} (${code}).`));
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Claims the port if it is free. Another copy of the product could find the same port in the second before a
 * server listens, so the claim is a lock in a folder that all copies of this user share. It lasts as long as
 * this process.
 */
export async function tryClaimPort(port, host = '127.0.0.1') {
  const claim = tryLock(join(claimsFolder(), String(port)));
  if (!claim.release) return false;
  if (await isPortFree(port, host)) {
    releaseAtExit(claim.release);
    return true;
  }
  claim.release();
  return false;
}

const releases = [];

function releaseAtExit(release) {
  if (releases.length === 0) process.once('exit', () => releases.forEach((each) => each()));
  releases.push(release);
}

/** Claims the preferred port or the next free one above it. */
export async function claimPort(preferred, host = '127.0.0.1') {
  for (let port = preferred; port < preferred + SEARCH_RANGE && port < 65_536; port += 1) {
    if (await tryClaimPort(port, host)) return port;
  }
  throw new UserError(`All ports from ${preferred} to ${preferred + SEARCH_RANGE} are taken.`);
}

/** Below the ephemeral ports, because a connection could take one of those before its server listens. */
const ANY = { from: 10_000, to: 22_000 };

/** Finds any free port, for a process that claims it itself. */
export async function anyFreePort(host = '127.0.0.1', isGood = isPortFree) {
  for (;;) {
    const port = ANY.from + Math.floor(Math.random() * (ANY.to - ANY.from));
    if (await isGood(port, host)) return port;
  }
}

/** Claims any free port, for servers that tests and measurements start side by side. */
export function claimAnyPort(host) {
  return anyFreePort(host, tryClaimPort);
}

function claimsFolder() {
  return join(tmpdir(), `helix-temporal-ports-${process.getuid?.() ?? 'user'}`);
}

/**
 * Below the ephemeral ports, so that a killed engine finds its port free again; Temporal's tables hold ports
 * up to 32,767.
 */
const FIRST = 21_000;

export function claimLowPort() {
  return claimPort(FIRST);
}
