import { randomInt } from 'node:crypto';
import { sleep } from '../clock.js';
import type { Say } from '../command.js';
import type { Child } from './child.js';

/** A process of the product, together with its successors. */
export type Member = ReturnType<typeof createMember>;

interface MemberOptions {
  /** True if an orderly end waits for the successor; processes on one port cannot overlap. */
  overlaps?: boolean;
  /** Rejects if it takes too long, such as while an engine is away. */
  untilReady?: (pid: number) => Promise<unknown>;
  say: Say;
}

const AGAIN_MS = 1_000;

/** Creates a member that is restarted after an unrequested end, as by any supervisor. */
export function createMember(
  name: string,
  start: () => Child,
  { overlaps = false, untilReady, say }: MemberOptions,
) {
  let isStopped = false;
  let crashes = 0;
  let child = begin();

  function begin(): Child {
    const started = start();
    void started.exited.then(async () => {
      const isWanted = (): boolean => !isStopped && started === child;
      if (!isWanted()) return;
      crashes += 1;
      say(`${name} ended unasked`);
      await sleep(AGAIN_MS);
      if (isWanted()) child = begin();
    });
    return started;
  }

  return {
    name,
    pid: () => child.pid,
    /** Number of times that the process exited although nobody had stopped it. */
    crashes: () => crashes,
    /** Ends the process with that signal and starts its successor; resolves after `untilReady`, if given. */
    replace: async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
      const old = child;
      // The copy detaches the old process, so that its end is not taken for a crash.
      child = { ...old };
      if (signal === 'SIGKILL') old.kill9();
      if (!overlaps) await old.stop();
      child = begin();
      await untilReady?.(child.pid).catch(() => say(`${name} is not ready yet`));
      await old.stop();
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      await child.stop();
    },
  };
}

/** Faults by name; each resolves when everything runs again. */
export type Faults = Readonly<Record<string, () => Promise<unknown>>>;

/** Returns the faults of one kind of process. */
export function faultsOf(what: string, members: readonly Member[]): Faults {
  return {
    [`${what} killed`]: () => oneOf(members).replace('SIGKILL'),
    [`${what} drained`]: () => oneOf(members).replace('SIGTERM'),
    [`${what} stands still`]: () => standStill(oneOf(members).pid()),
  };
}

/** A process is frozen or unreachable for this time, ms. */
export const STILL_MS = 5_000;

export async function standStill(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  process.kill(pid, 'SIGSTOP');
  await sleep(STILL_MS);
  process.kill(pid, 'SIGCONT');
}

export function oneOf<T>(list: readonly T[]): T {
  const one = list[randomInt(list.length)];
  if (one === undefined) throw new Error('there is none to choose from');
  return one;
}
