import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where built and downloaded engines are kept: outside the clone, so the next clone has them. */
export function cacheFolder(env = process.env) {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'helix-temporal');
  const home = env.HOME ?? homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'helix-temporal')
    : join(home, '.cache', 'helix-temporal');
}
