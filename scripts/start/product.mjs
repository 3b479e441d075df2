// Runs the whole product: `npm start`, and `helix-temporal dev` with a person's own agents.
import { join } from 'node:path';
import { tryLock } from '../system/file-lock.mjs';
import { claimPort, isPortFree, tryClaimPort } from '../system/ports.mjs';
import { UsageError, UserError } from '../system/project.mjs';
import { makePrivateFolder } from './engine.mjs';
import { findPrograms, provideRedis, provideTemporal } from './engines.mjs';
import { startNodeProcess } from './node-process.mjs';
import { createProcesses } from './processes.mjs';
import { requireRedis, requireTemporal } from './reachable.mjs';
import { checkEnvironment, childEnvironment, urlFor } from './settings.mjs';
import { listenForStop, stopRequested } from './stop-request.mjs';

const WHY = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'its file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file of that name is there',
};

/**
 * Resolves to the work's result; reports an unusable file or folder as a sentence.
 * @throws UserError
 */
async function withFileFaults(work) {
  try {
    return await work();
  } catch (error) {
    const { code, path, syscall = '' } = error ?? {};
    const isMissing = code === 'ENOENT' && syscall === 'mkdir';
    const why = isMissing ? 'nothing can be made there' : WHY[code];
    if (path === undefined || why === undefined || syscall.startsWith('spawn')) throw error;
    throw new UserError(
      `${path} cannot be used: ${why} (${code}). Conversations are kept in DATA_DIR, programs in ` +
        'XDG_CACHE_HOME (default: ~/.cache), claims of ports in TMPDIR: choose another folder, or free this one.',
      { cause: error },
    );
  }
}

const say = (text) => process.stdout.write(text);

/**
 * Runs until a stop is requested.
 *
 * @param how.settings result of readSettings
 * @param how.prepare runs before anything starts
 * @param how.launch options of API and worker, see node-process.mjs
 * @param how.onUp called when everything is ready
 */
export function startProduct(how) {
  return withFileFaults(() => run(how));
}

async function run({ settings, prepare, launch, onUp }) {
  makePrivateFolder(settings.dataDir);
  const lock = lockDataFolder(settings.dataDir);
  const fleet = createFleet();
  const signal = listenForStop({ onRepeat: () => fleet.kill() });
  const context = { fleet, signal, say, announceDeath };
  try {
    await Promise.race([
      bringUp({ settings, prepare, launch, onUp }, context),
      stopRequested(signal),
    ]);
    await stopRequested(signal);
  } finally {
    if (signal.aborted) say('\nStopping … (again to force)\n');
    await fleet.stop();
    lock.release();
  }
}

function lockDataFolder(dataDir) {
  const { release, holder } = tryLock(join(dataDir, 'start.lock'));
  if (release) return { release };
  throw new UserError(
    `The product already runs on ${dataDir} (process ${holder.pid}). ` +
      'Stop it first, or set DATA_DIR to another folder.',
  );
}

async function bringUp({ settings: given, prepare, launch, onUp }, context) {
  await prepare(context);
  context.signal.throwIfAborted();
  const env = childEnvironment(given, { port: given.port, temporalAddress: given.temporalAddress });
  const { address } = await checkEnvironment(env);
  const temporalAddress = given.usesProfile ? address : given.temporalAddress;
  const settings = { ...given, temporalAddress };
  const port = await choosePort(settings);

  const programs = await findPrograms(settings);
  const members = { ...context, onDeath: announceDeath };
  const [temporal, redis] = await Promise.all([
    provideTemporal(settings, programs.temporal, members),
    provideRedis(settings, programs.redis, members),
  ]);
  const servers = { port, url: urlFor(settings.host, port), ...temporal, ...redis };
  const processes = createProcesses({
    env: childEnvironment(settings, servers),
    url: servers.url,
    launch,
    context,
  });
  await processes.start();

  const { dataDir, model, allowUnauthenticated, agents } = settings;
  say(welcome({ ...servers, dataDir, model, agents, open: allowUnauthenticated === '1' }));
  await onUp?.({ url: servers.url, processes, ...context });
}

/** A configured port must be free; only the default port may move. */
async function choosePort({ port, portWasGiven, host }) {
  if (!portWasGiven) return claimPort(port, host);
  if (await tryClaimPort(port, host)) return port;
  throw portInUse(port);
}

function portInUse(port) {
  return new UsageError(
    `PORT ${port} is in use by another program. Free it or choose another one.`,
  );
}

function announceDeath(name, { reason, wait }) {
  const when = wait === 0 ? 'now' : `in ${wait} ms`;
  say(`${name} died (${reason}); it is started again ${when}\n`);
  return true;
}

/** Stops the started members in reverse order, so that none loses a dependency before its own end. */
function createFleet() {
  const members = [];
  return {
    add: (member) => members.push(member),
    /** Removes a member that has ended. */
    remove(member) {
      const at = members.indexOf(member);
      if (at >= 0) members.splice(at, 1);
    },
    /** Takes bounded time: each member kills its process after a grace time. */
    async stop() {
      for (const member of members.toReversed()) await member.stop();
    },
    kill() {
      for (const member of members) member.kill();
    },
  };
}

// Message of `npm start` and `helix-temporal dev` when everything is ready.

function welcome(product) {
  const { url, temporalUiUrl, isTemporalOwn, temporalAddress, redisUrl } = product;
  const { dataDir, model, agents, open } = product;
  const lines = [
    ['Chat page', url],
    ['Console', `${url}/console`],
    ['Temporal UI', temporalUiUrl ?? (isTemporalOwn && 'off (TEMPORAL_UI=1 starts it)')],
    ['Engines', `Temporal ${temporalAddress}, Redis ${withoutPassword(redisUrl)}`],
    ['Agents', agents],
    ['Data', dataDir],
    ['Model', model ?? modelOf(agents)],
    ['Access', open && 'without authentication (HELIX_ALLOW_UNAUTHENTICATED=1)'],
  ];
  const table = lines
    .filter(([, value]) => value)
    .map(([label, value]) => `  ${label.padEnd(13)}${value}\n`);
  return `\n  helix-temporal is running.\n\n${table.join('')}\n  Ctrl-C stops what was started here.\n\n`;
}

/** Describes the model if MODEL is not set; a file of agents may name one itself. */
function modelOf(agents) {
  if (agents) return `as ${agents} says: MODEL is not set, so modelFromSpec gives the scripted one`;
  return 'scripted, so no model key is needed (MODEL=<provider>:<id> for a real one)';
}

function withoutPassword(url) {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  return parsed.href;
}

// Runs one process in the foreground on existing servers: `npm run start:api` and `start:worker`, and
// `helix-temporal api` and `worker` with a person's own agents. The process normally ends within its own
// grace time; this one is for a process that hangs.
const GRACE_MS = 120_000;

/**
 * Returns the process's exit code: 0 after a requested end, the signal's code if it was killed then. Takes
 * the options of `startProduct`.
 */
export async function startOneProcess(role, { settings, prepare, launch }) {
  let child;
  const signal = listenForStop({ onRepeat: () => child?.kill() });
  await Promise.race([stopRequested(signal), prepare({ signal })]);
  signal.throwIfAborted();

  const { port, redisUrl = 'redis://127.0.0.1:6379', temporalAddress } = settings;
  const env = childEnvironment(settings, { port, redisUrl, temporalAddress });
  const { address } = await checkEnvironment(env);
  if (role === 'api' && !(await isPortFree(port, settings.host))) throw portInUse(port);
  const servers = Promise.all([requireRedis(redisUrl), requireTemporal(address)]);
  await Promise.race([stopRequested(signal), servers]);
  signal.throwIfAborted();

  child = startNodeProcess(role, env, launch);
  signal.addEventListener('abort', () => void child.stop({ graceMs: GRACE_MS }));
  const { code, reason } = await child.exited;
  if (code === undefined) throw new UserError(`The ${role} could not be started: ${reason}.`);
  return signal.aborted ? (process.exitCode ?? 0) : (code ?? 1);
}
