import { sleep } from '../clock.js';
import type { Child } from '../processes/child.js';

/** A process of the product, and all its successors. */
export interface Member {
  readonly name: string;
  pid: () => number;
  /** Ends it by that signal, and starts its successor; resolves when that is ready. */
  replace: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  stop: () => Promise<void>;
}

interface MemberOptions {
  overlaps: boolean;
  untilReady: (pid: number) => Promise<void>;
  say: (text: string) => void;
}

const AGAIN_MS = 1_000;

/**
 * A process that ends unasked is started again, as every supervisor does.
 *
 * @param overlaps whether an orderly end waits for the successor; processes that listen on one port cannot
 * @param untilReady rejects if it takes too long, as it does while an engine is away
 */
export function createMember(
  name: string,
  start: () => Child,
  { overlaps, untilReady, say }: MemberOptions,
): Member {
  let isStopped = false;
  let child = begin();

  function begin(): Child {
    const started = start();
    void started.exited.then(async () => {
      const isWanted = (): boolean => !isStopped && started === child;
      if (!isWanted()) return;
      say(`${name} ended unasked`);
      await sleep(AGAIN_MS);
      if (isWanted()) child = begin();
    });
    return started;
  }

  return {
    name,
    pid: () => child.pid,
    replace: async (signal) => {
      const old = child;
      // From now on its end is not unasked.
      child = { ...old };
      if (signal === 'SIGKILL') old.kill9();
      if (!overlaps) await old.stop();
      child = begin();
      await untilReady(child.pid).catch(() => {
        say(`${name} is not ready yet`);
      });
      await old.stop();
    },
    stop: async () => {
      isStopped = true;
      await child.stop();
    },
  };
}
