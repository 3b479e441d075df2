// Reads `npm start`'s own environment variables. The two processes get all others unchanged and validate
// them.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, UsageError, UserError } from '../system/project.mjs';

const DEFAULT_PORT = 3000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** An empty value counts as absent, as in the processes. */
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
    // A profile of the `temporal` command line names a server too.
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

/** Undefined opens the UI if that is safe, see `placeUi`. */
function parseTemporalUi(text) {
  if (!text) return undefined;
  if (text === '0' || text === '1') return text === '1';
  throw new UsageError(`TEMPORAL_UI is "${text}", but must be 0 or 1.`);
}

/**
 * An API without authentication is convenient on loopback but open to the network elsewhere, so that needs an
 * explicit setting. A token key closes it.
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

/** Returns a URL that clients can call for a server that listens on `host`. */
export function urlFor(host, port) {
  const callable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
}

// Withholds the variables that a process does not need.

const MODEL_KEY = /^[A-Z0-9_]+_API_KEY$/;
const SIGN_IN = /^JWT_/;
/** Variables of other programs: paths, folders and locale. */
const OF_SYSTEM =
  /^(PATH|LD_LIBRARY_PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_\w+|GO(GC|MAXPROCS|MEMLIMIT))$/;

/** Engines get no keys. */
export function environmentOfEngine(env) {
  return pick(env, (name) => OF_SYSTEM.test(name));
}

/** The API gets no model keys, because workers call models; workers get no sign-in settings. */
export function environmentOfRole(role, env) {
  const withheld = { api: MODEL_KEY, worker: SIGN_IN }[role];
  return pick(env, (name) => !withheld.test(name));
}

function pick(env, isGiven) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isGiven(name)));
}

// The two processes' environment, and its check before anything starts.
/** Sets only known values: an absent variable keeps the schema's default. */
export function childEnvironment(settings, servers) {
  const { port, url, redisUrl, temporalAddress, isTemporalOwn, temporalUiUrl } = servers;
  const variables = {
    PORT: String(port),
    HOST: settings.host,
    REDIS_URL: redisUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    // The server that `npm start` runs has no TLS, whatever the command line's profile says.
    TEMPORAL_TLS: isTemporalOwn ? 'false' : undefined,
    TEMPORAL_NAMESPACE: settings.namespace,
    TASK_QUEUE: settings.taskQueue,
    MODEL: settings.model,
    DATA_DIR: settings.dataDir,
    PUBLIC_URL: process.env.PUBLIC_URL || url,
    TEMPORAL_UI_URL: process.env.TEMPORAL_UI_URL || temporalUiUrl,
    HELIX_ALLOW_UNAUTHENTICATED: settings.allowUnauthenticated,
    AGENTS: settings.agents,
    DEFAULT_AGENT: process.env.DEFAULT_AGENT || (settings.agents ? undefined : 'support'),
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/**
 * Validates the environment with the processes' schema before engines start.
 *
 * @returns address and namespace by which the processes reach Temporal
 */
export async function checkEnvironment(env) {
  const schema = pathToFileURL(join(projectRoot, 'dist', 'config', 'env.js')).href;
  const temporal = pathToFileURL(join(projectRoot, 'dist', 'config', 'temporal.js')).href;
  const [{ parseEnv, ConfigError }, { readTemporal }] = await Promise.all([
    import(schema),
    import(temporal),
  ]);
  try {
    parseEnv({ ...process.env, ...env });
    return readTemporal({ ...process.env, ...env });
  } catch (error) {
    if (error instanceof ConfigError) throw new UserError(error.message);
    throw error;
  }
}
