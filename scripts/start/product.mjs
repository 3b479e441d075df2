// `npm start`: the whole product in one command.
import { join } from 'node:path';
import { buildFirst } from '../build.mjs';
import { installPackages } from '../install.mjs';
import { tryLock } from '../system/file-lock.mjs';
import { claimPort, tryClaimPort } from '../system/ports.mjs';
import { projectRoot } from '../system/project.mjs';
import { UserError } from '../system/user-error.mjs';
import { findPrograms, provideRedis, provideTemporal } from './engines.mjs';
import { checkEnvironment, childEnvironment } from './environment.mjs';
import { createFleet } from './fleet.mjs';
import { createLeaseNames } from './lease-names.mjs';
import { startNodeProcess } from './node-process.mjs';
import { makePrivateFolder } from './private-folder.mjs';
import { readSettings, urlFor } from './settings.mjs';
import { listenForStop, stopRequested } from './stop-request.mjs';
import { supervise } from './supervisor.mjs';
import { waitUntil } from './wait-until.mjs';
import { welcome } from './welcome.mjs';

const READY_WITHIN_MS = 60_000;
// This many deaths before the product was ever ready mean a wrong setup.
const DEATHS_BEFORE_READY = 3;

const say = (text) => process.stdout.write(text);

export async function startProduct() {
  const settings = readSettings(process.env, projectRoot);
  makePrivateFolder(settings.dataDir);
  const lock = lockDataFolder(settings.dataDir);
  const fleet = createFleet();
  const signal = listenForStop({ onRepeat: () => fleet.kill() });
  try {
    await Promise.race([bringUp(settings, fleet, signal), stopRequested(signal)]);
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

async function bringUp(given, fleet, signal) {
  await installPackages();
  await buildFirst();
  signal.throwIfAborted();
  const env = childEnvironment(given, { port: given.port, temporalAddress: given.temporalAddress });
  const { address } = await checkEnvironment(env);
  const temporalAddress = given.usesProfile ? address : given.temporalAddress;
  const settings = { ...given, temporalAddress };
  const port = await choosePort(settings);

  const programs = await findPrograms(settings);
  const context = { fleet, signal, onDeath: announceDeath };
  const [temporal, redis] = await Promise.all([
    provideTemporal(settings, programs.temporal, context),
    provideRedis(settings, programs.redis, context),
  ]);
  const servers = { port, url: urlFor(settings.host, port), ...temporal, ...redis };
  await startProcesses(childEnvironment(settings, servers), servers.url, { fleet, signal });

  const { dataDir, model, allowUnauthenticated } = settings;
  say(welcome({ ...servers, dataDir, model, open: allowUnauthenticated === '1' }));
}

/** A configured port is used or refused; only the default port may move. */
async function choosePort({ port, portWasGiven, host }) {
  if (!portWasGiven) return claimPort(port, host);
  if (await tryClaimPort(port, host)) return port;
  throw new UserError(`PORT ${port} is in use by another program. Free it or choose another one.`);
}

async function startProcesses(env, url, { fleet, signal }) {
  let ready = false;
  let failure;
  for (const role of ['worker', 'api']) {
    const onDeath = (death) => {
      if (!ready && death.quickDeaths >= DEATHS_BEFORE_READY) {
        failure = new UserError(`The ${role} does not start: it ended with ${death.reason}.`);
        return false;
      }
      return announceDeath(role, death);
    };
    signal.throwIfAborted();
    const nextLease = role === 'worker' ? createLeaseNames() : () => ({});
    const start = () => startNodeProcess(role, { ...env, ...nextLease() }, { write: say });
    fleet.add(supervise(start, { onDeath }));
  }
  ready = await waitUntil(
    () => {
      if (failure) throw failure;
      return answersOk(`${url}/readyz`);
    },
    { withinMs: READY_WITHIN_MS, everyMs: 100, signal },
  );
  if (!ready) throw new UserError(`The product is not ready after a minute: see ${url}/readyz.`);
}

function announceDeath(name, { reason, wait }) {
  const when = wait === 0 ? 'now' : `in ${wait} ms`;
  say(`${name} died (${reason}); it is started again ${when}\n`);
  return true;
}

async function answersOk(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
