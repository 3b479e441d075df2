import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { startChildProcess } from './child-process.mjs';
import { showLines } from './log-lines.mjs';
import { environmentOfRole } from './secrets.mjs';

// Streams make many short-lived objects: with a larger young generation they die there, and the
// collector does not stop the worker in the middle of a token.
const NODE_OPTIONS = { worker: ['--max-semi-space-size=64'], api: [] };

/**
 * Starts dist/<role>/main.js. The IPC channel closes when this process dies, however it dies, and that
 * is how the child learns that it has to end. Its messages say how far the child is: `loaded`, `ready`.
 *
 * @param options.cwd           the folder of the process: paths of its settings start there
 * @param options.withholdsKeys whether the process gets only the keys that the product's own code needs
 */
export function startNodeProcess(
  role,
  env,
  { cwd = projectRoot, withholdsKeys = true, write, onMessage } = {},
) {
  const output = write ? 'pipe' : 'inherit';
  const all = { ...process.env, ...env };
  const started = startChildProcess(process.execPath, [...NODE_OPTIONS[role], mainFile(role)], {
    cwd,
    env: withholdsKeys ? environmentOfRole(role, all) : all,
    stdio: ['ignore', output, output, 'ipc'],
  });
  if (onMessage) started.child.on('message', onMessage);
  if (write) {
    showLines(started.child.stdout, role, write);
    showLines(started.child.stderr, role, write);
  }
  return started;
}

function mainFile(role) {
  return join(projectRoot, 'dist', role, 'main.js');
}
