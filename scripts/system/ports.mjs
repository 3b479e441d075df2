// Free TCP ports, also when several copies of the product start at the same moment.
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './file-lock.mjs';

const SEARCH_RANGE = 200;

/** True when a server could listen there now. */
export function isPortFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * The preferred port or the next free one above it. Between finding a port and listening on it
 * lies a second or more, in which another copy would find the same port: so the port is claimed
 * in a folder that all copies of this user share, for the life of this process.
 */
export async function claimPort(preferred, host = '127.0.0.1') {
  for (let port = preferred; port < preferred + SEARCH_RANGE && port < 65_536; port += 1) {
    const claim = tryLock(join(claimsFolder(), String(port)));
    if (!claim.release) continue;
    if (await isPortFree(port, host)) return { port, release: claim.release };
    claim.release();
  }
  throw new Error(`no free port between ${preferred} and ${preferred + SEARCH_RANGE}`);
}

/** Any free port, for tests and measurements: the system picks it and does not hand it out again soon. */
export function anyFreePort(host = '127.0.0.1') {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function claimsFolder() {
  return join(tmpdir(), `helix-temporal-ports-${process.getuid?.() ?? 'user'}`);
}
