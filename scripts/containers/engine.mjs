// The Docker engine that runs here, with Compose.
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { findCompose } from './compose.mjs';

/** @returns `{ env }`: the environment for `docker` */
export async function findEngine() {
  if ((await runCommand('docker', ['info'])).code !== 0) {
    throw new UserError('No Docker engine runs here: start yours.');
  }
  const { path, home, reason } = await findCompose(process.env);
  if (!path) throw new UserError(`${reason}.`);
  return { env: { ...process.env, ...(home && { DOCKER_CONFIG: home }) } };
}
