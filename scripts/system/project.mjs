import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the project: every command works from there, wherever it was called from. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** True when this module is the program that node was asked to run, and not imported by another. */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && fileURLToPath(moduleUrl) === process.argv[1];
}

/** A failure that the person at the keyboard can act on: shown as one sentence, without a stack trace. */
export class UserError extends Error {
  name = 'UserError';
}

/** The same, about what the person has named or set. */
export class UsageError extends UserError {
  name = 'UsageError';
}

/** The last stop of every command: sentences for what was expected, a stack trace only for bugs. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    // The user asked for the end.
    if (error?.name === 'AbortError') return;
    const text = error instanceof UserError ? error.message : String(error?.stack ?? error);
    process.stderr.write(`\n${text}\n`);
    process.exitCode = 1;
  }
}

/** Where built and downloaded engines are kept: outside the clone, so the next clone has them. */
export function cacheFolder(env = process.env) {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'helix-temporal');
  const home = env.HOME ?? homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'helix-temporal')
    : join(home, '.cache', 'helix-temporal');
}
