// Runs an engine as a process that can be ended, killed and restarted, with its log in a file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../start/reachable.mjs';
import { startServer } from '../start/child-process.mjs';
import { lastLines } from '../system/run-command.mjs';

const READY_WITHIN_MS = 30_000;
const GRACE_MS = 5000;

/**
 * Creates an engine that starts with the first `restart`.
 *
 * @param isReady resolves to true if the engine answers
 * @param folder gets the log, `<name>.log`
 * @param stopSignal asks for an orderly end
 * @param options of `spawn`, such as the user
 */
export function createEngine({
  name,
  file,
  args,
  isReady,
  folder,
  options,
  stopSignal = 'SIGTERM',
  readyWithinMs = READY_WITHIN_MS,
}) {
  const logFile = join(folder, `${name}.log`);
  let child;
  let exited = Promise.resolve();

  const end = async (signal) => {
    child?.kill(signal);
    const timer = setTimeout(() => child?.kill('SIGKILL'), GRACE_MS);
    await exited;
    clearTimeout(timer);
  };
  return {
    name,
    logFile,
    get pid() {
      return child?.pid;
    },
    stop: () => end(stopSignal),
    kill9: () => end('SIGKILL'),
    /** Stops the engine if it runs, starts it, and resolves when it answers. */
    async restart() {
      await end(stopSignal);
      ({ child, exited } = startServer(file, args, logFile, options));
      let gone = false;
      void exited.then(() => (gone = true));
      const answered = await waitUntil(() => gone || isReady(), {
        withinMs: readyWithinMs,
        everyMs: 20,
      });
      if (answered && !gone) return;
      const log = lastLines(readFileSync(logFile, 'utf8'), 8);
      throw new Error(`${name} did not start (${file}):\n${log}`);
    },
  };
}
