// What `npm start` itself reads from the environment. Everything else is passed on as it is and
// checked by the two processes, which own the schema.
import { resolve } from 'node:path';
import { UsageError } from '../system/user-error.mjs';

const DEFAULT_PORT = 3000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** An empty value counts as absent, as it does for the processes. */
export function readSettings(env, root) {
  const host = env.HOST || '127.0.0.1';
  return {
    host,
    port: env.PORT ? parsePort(env.PORT) : DEFAULT_PORT,
    portWasGiven: Boolean(env.PORT),
    dataDir: resolve(root, env.DATA_DIR || '.data'),
    namespace: env.TEMPORAL_NAMESPACE || undefined,
    taskQueue: env.TASK_QUEUE,
    model: env.MODEL,
    agents: env.AGENTS || undefined,
    redisUrl: env.REDIS_URL,
    temporalAddress: env.TEMPORAL_ADDRESS,
    // Names a server as well: the one of a profile of the `temporal` command line.
    usesProfile: Boolean(env.TEMPORAL_PROFILE || env.TEMPORAL_CONFIG_FILE),
    temporalUi: parseTemporalUi(env.TEMPORAL_UI),
    temporalUiUrl: env.TEMPORAL_UI_URL,
    allowUnauthenticated: allowsUnauthenticated(env, host),
  };
}

function parsePort(text) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`PORT is "${text}", but a port is a number from 1 to 65535.`);
}

/** Undefined: the UI opens where that is safe, see temporal-ui.mjs. */
function parseTemporalUi(text) {
  if (!text) return undefined;
  if (text === '0' || text === '1') return text === '1';
  throw new UsageError(`TEMPORAL_UI is "${text}", but must be 0 or 1.`);
}

/**
 * On loopback an API without authentication is the comfortable default; on any other address it
 * would be open to the network, so that must be explicit. With a token key nothing is open.
 */
function allowsUnauthenticated(env, host) {
  if (env.HELIX_ALLOW_UNAUTHENTICATED) return env.HELIX_ALLOW_UNAUTHENTICATED;
  if (env.JWT_SECRET || env.JWT_PUBLIC_KEY || env.JWT_JWKS_URL) return undefined;
  if (LOOPBACK.test(host)) return '1';
  throw new UsageError(
    `HOST is ${host}: other machines could use the API without authentication. ` +
      'Set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or HELIX_ALLOW_UNAUTHENTICATED=1 to allow that, or leave HOST out.',
  );
}

/** The address to call for a server that listens on `host`. */
export function urlFor(host, port) {
  const callable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
}
