import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { startChildProcess } from './child-process.mjs';
import { showLines } from './log-lines.mjs';
import { environmentOfRole } from './secrets.mjs';

// Streams make many short-lived objects: with a larger young generation they die there, and the
// collector does not stop the worker in the middle of a token.
const NODE_OPTIONS = { worker: ['--max-semi-space-size=64'], api: [] };

/**
 * Starts dist/<role>/main.js. The IPC channel carries no messages: it closes when this process
 * dies, however it dies, and that is how the child learns that it has to end.
 */
export function startNodeProcess(role, env, { write } = {}) {
  const output = write ? 'pipe' : 'inherit';
  const started = startChildProcess(process.execPath, [...NODE_OPTIONS[role], mainFile(role)], {
    cwd: projectRoot,
    env: environmentOfRole(role, { ...process.env, ...env }),
    stdio: ['ignore', output, output, 'ipc'],
  });
  if (write) {
    showLines(started.child.stdout, role, write);
    showLines(started.child.stderr, role, write);
  }
  return started;
}

function mainFile(role) {
  return join(projectRoot, 'dist', role, 'main.js');
}
