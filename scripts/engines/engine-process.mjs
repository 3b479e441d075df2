// An engine as a process: started, ended, killed and started again, with its log in a file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../start/reachable.mjs';
import { startServer } from '../start/child-process.mjs';
import { lastLines } from '../system/run-command.mjs';

const READY_WITHIN_MS = 30_000;
const GRACE_MS = 5000;

/**
 * Nothing runs until the first `restart`.
 *
 * @param isReady whether it answers
 * @param folder where its log is written, as `<name>.log`
 * @param stopSignal asks it for an orderly end
 * @param options of `spawn`, such as the user that it runs as
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
    /** Stops it if it runs, and resolves when it answers again. */
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
