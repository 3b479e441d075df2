// Keeps one child process alive.
import { setTimeout as delay } from 'node:timers/promises';

const STABLE_MS = 3000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/**
 * How long to wait before the next start, after so many deaths in quick succession. The first
 * restart is immediate, since one crash is no pattern; later ones wait, to spare the machine.
 */
export function restartPause(quickDeaths) {
  if (quickDeaths <= 1) return 0;
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (quickDeaths - 2));
}

/**
 * Starts the child and starts it again whenever it dies, until `stop`. `startChild` returns
 * `{ pid, exited, stop, kill }` (see child-process.mjs); `onDeath` is called for each death that was not
 * requested and may return `false` to give up. Clock and pause are parameters for the tests.
 */
export function supervise(startChild, { onDeath, now = Date.now, pause = delay } = {}) {
  const stopping = new AbortController();
  let child = startChild();
  let startedAt = now();
  let quickDeaths = 0;

  const finished = (async () => {
    for (;;) {
      const outcome = await child.exited;
      if (stopping.signal.aborted) return;
      quickDeaths = now() - startedAt < STABLE_MS ? quickDeaths + 1 : 1;
      const wait = restartPause(quickDeaths);
      if (onDeath?.({ ...outcome, quickDeaths, wait }) === false) return;
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      child = startChild();
      startedAt = now();
    }
  })();

  return {
    get pid() {
      return child.pid;
    },
    finished,
    /** Ends supervision and the child; resolves when the child is gone. */
    async stop(options) {
      stopping.abort();
      await child.stop(options);
      await finished;
    },
    kill() {
      stopping.abort();
      child.kill();
    },
  };
}
