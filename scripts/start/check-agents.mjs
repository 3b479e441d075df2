// Loads a person's agents in a short-lived process: a file may open connections, and a changed file must not
// meet its old version in memory.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMain, projectRoot, UsageError } from '../system/project.mjs';

const SELF = fileURLToPath(import.meta.url);

/**
 * @param options.signal aborts a file that never finishes loading
 * @returns the names of the agents that people may talk to
 * @throws UserError with a sentence that names the file
 */
export function checkAgents(file, { folder, env = process.env, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = fork(SELF, [file], {
      cwd: folder,
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      signal,
      killSignal: 'SIGKILL',
    });
    let report;
    child.once('message', (message) => (report = message));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (report?.names) resolve(report.names);
      else
        reject(new UsageError(report?.fault ?? `${file} ended the process (${signal ?? code}).`));
    });
  });
}

async function load(file) {
  const loader = pathToFileURL(join(projectRoot, 'dist/extensions/own-files/index.js')).href;
  const { loadAgentsFile } = await import(loader);
  const agents = await loadAgentsFile(file, { env: process.env });
  return agents.getRegisteredTypes().filter((name) => agents.isPublic(name));
}

if (isMain(import.meta.url)) {
  // The parent may have been killed.
  process.once('disconnect', () => process.exit());
  process.channel.unref();
  const answer = await load(process.argv[2]).then(
    (names) => ({ names }),
    (error) => ({ fault: error.name === 'AgentsFileError' ? error.message : error.stack }),
  );
  // The file's open handles would keep the process alive.
  process.send(answer, () => process.exit());
}
