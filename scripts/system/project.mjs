import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root, from which every command works. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** Returns true if node was asked to run this module, false if it was imported. */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && fileURLToPath(moduleUrl) === process.argv[1];
}

/** A failure that the user can fix: shown as one sentence, without a stack trace. */
export class UserError extends Error {
  name = 'UserError';
}

/** A UserError about an argument or setting. */
export class UsageError extends UserError {
  name = 'UsageError';
}

/** Handles every command's errors: sentences for expected ones, a stack trace for bugs. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    // The user requested the end.
    if (error?.name === 'AbortError') return;
    const text = error instanceof UserError ? error.message : String(error?.stack ?? error);
    process.stderr.write(`\n${text}\n`);
    process.exitCode = 1;
  }
}

/** Folder of built and downloaded engines, outside of the clone so that the next clone has them. */
export function cacheFolder(env = process.env) {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'helix-temporal');
  const home = env.HOME ?? homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'helix-temporal')
    : join(home, '.cache', 'helix-temporal');
}
