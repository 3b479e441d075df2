// The whole product in one command: `npm start`, and `helix-temporal dev` with a person's own agents.
import { join } from 'node:path';
import { withFileFaults } from '../system/file-fault.mjs';
import { tryLock } from '../system/file-lock.mjs';
import { claimPort, tryClaimPort } from '../system/ports.mjs';
import { UsageError, UserError } from '../system/user-error.mjs';
import { findPrograms, provideRedis, provideTemporal } from './engines.mjs';
import { checkEnvironment, childEnvironment } from './environment.mjs';
import { makePrivateFolder } from './private-folder.mjs';
import { createProcesses } from './processes.mjs';
import { urlFor } from './settings.mjs';
import { listenForStop, stopRequested } from './stop-request.mjs';

const say = (text) => process.stdout.write(text);

/**
 * Runs until it is asked to stop.
 *
 * @param how.settings what readSettings returned
 * @param how.prepare  what has to be there before anything is started
 * @param how.launch   how API and worker are started, see node-process.mjs
 * @param how.onUp     called when everything is ready
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

/** A configured port is used or refused; only the default port may move. */
async function choosePort({ port, portWasGiven, host }) {
  if (!portWasGiven) return claimPort(port, host);
  if (await tryClaimPort(port, host)) return port;
  throw new UsageError(`PORT ${port} is in use by another program. Free it or choose another one.`);
}

function announceDeath(name, { reason, wait }) {
  const when = wait === 0 ? 'now' : `in ${wait} ms`;
  say(`${name} died (${reason}); it is started again ${when}\n`);
  return true;
}

/**
 * Everything that was started, to be stopped in the opposite order: nothing loses what it depends
 * on before it has ended itself.
 */
function createFleet() {
  const members = [];
  return {
    add: (member) => members.push(member),
    /** For a member that has ended. */
    remove(member) {
      const at = members.indexOf(member);
      if (at >= 0) members.splice(at, 1);
    },
    /** Bounded: each member kills its process when that does not end in time. */
    async stop() {
      for (const member of members.toReversed()) await member.stop();
    },
    kill() {
      for (const member of members) member.kill();
    },
  };
}

// What `npm start` and `helix-temporal dev` say when everything is ready.

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

/** Without MODEL: a file of agents may name a model itself. */
function modelOf(agents) {
  if (agents) return `as ${agents} says: MODEL is not set, so modelFromSpec gives the scripted one`;
  return 'scripted, so no model key is needed (MODEL=<provider>:<id> for a real one)';
}

function withoutPassword(url) {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  return parsed.href;
}
