// Runs npm for packages outside of the project.
import { runCommand } from '../system/run-command.mjs';

/** The registry could not be reached, failed, or lacks the package. */
export class RegistryError extends Error {}

// npm's codes for a broken connection, a registry that fails or refuses, and a missing version.
const REGISTRY_CODES =
  /^(E[45]\d\d|ETARGET|ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONN\w+|E?TIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|\w*CERT\w*)$/;
// Makes npm fail within seconds if there is no network.
const PATIENCE = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=30000'];
const MAX_MS = 180_000;

/**
 * Returns npm's output.
 * @throws RegistryError if the registry cannot be reached or lacks the package
 */
export async function npm(args, options = {}) {
  const { code, stdout, stderr } = await runCommand('npm', [...args, ...PATIENCE], {
    timeoutMs: MAX_MS,
    ...options,
  });
  if (code === 0) return stdout;
  const name = /^npm error code (\S+)/m.exec(stderr)?.[1];
  if (code === undefined && !stderr.includes('ENOENT')) throw new RegistryError('npm stands still');
  if (name !== undefined && REGISTRY_CODES.test(name)) {
    throw new RegistryError(`the npm registry cannot give it (${name})`);
  }
  const errors = stderr.split('\n').filter((line) => line.startsWith('npm error'));
  throw new Error(
    `npm ${args[0]} failed:\n${(errors[0] ? errors.slice(0, 12).join('\n') : stderr).trim()}`,
  );
}

/** Installs the packages, or those of the folder's manifest. */
export function npmInstall(packages, options) {
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  return npm(['install', ...quiet, ...packages], options);
}
