// One process, in the foreground, on servers that run already: `npm run start:api` and `start:worker`, and
// `helix-temporal api` and `worker` with a person's own agents.
import { isPortFree } from '../system/ports.mjs';
import { UsageError, UserError } from '../system/user-error.mjs';
import { checkEnvironment, childEnvironment } from './environment.mjs';
import { startNodeProcess } from './node-process.mjs';
import { requireRedis, requireTemporal } from './reachable.mjs';
import { listenForStop, stopRequested } from './stop-request.mjs';

// The process normally ends within its own grace time, which may be long for a worker that lets
// replies finish; this is only for one that hangs.
const GRACE_MS = 120_000;

/** Returns the exit code of the process, 0 if it was asked to end, and that of a signal if it was killed then. For the options see product.mjs. */
export async function startOneProcess(role, { settings, prepare, launch }) {
  let child;
  const signal = listenForStop({ onRepeat: () => child?.kill() });
  await Promise.race([stopRequested(signal), prepare({ signal })]);
  signal.throwIfAborted();

  const { port, redisUrl = 'redis://127.0.0.1:6379', temporalAddress } = settings;
  const env = childEnvironment(settings, { port, redisUrl, temporalAddress });
  const { address } = await checkEnvironment(env);
  if (role === 'api' && !(await isPortFree(port, settings.host))) {
    throw new UsageError(
      `PORT ${port} is in use by another program. Free it or choose another one.`,
    );
  }
  const servers = Promise.all([requireRedis(redisUrl), requireTemporal(address)]);
  await Promise.race([stopRequested(signal), servers]);
  signal.throwIfAborted();

  child = startNodeProcess(role, env, launch);
  signal.addEventListener('abort', () => void child.stop({ graceMs: GRACE_MS }));
  const { code, reason } = await child.exited;
  if (code === undefined) throw new UserError(`The ${role} could not be started: ${reason}.`);
  return signal.aborted ? (process.exitCode ?? 0) : (code ?? 1);
}
