import { startingCarry, takeAnswer, type Carry } from '../protocol/carry.js';
import type { AnswerSignal, RunInput, StopSignal } from '../protocol/run.js';
import type { Clock } from './clock.js';

/** A run of this process: what it knows, and what wakes it. */
export interface LocalRun {
  readonly input: RunInput;
  carry: Carry;
  /** A stop has ended the run in the record; results in progress are ignored. */
  isEnded: boolean;
  answer: (signal: AnswerSignal) => void;
  /** Lets it read its record again, if it waits. */
  look: () => void;
  mustLook: () => boolean;
  /** The same; from now on it need not. */
  takeLook: () => boolean;
  /** Counts the work of a model or a tool until it is over. */
  during: <T>(work: Promise<T>) => Promise<T>;
  isAtWork: () => boolean;
  stop: (signal: StopSignal) => void;
  /** Lets what waits look at its condition. */
  wake: () => void;
  /**
   * Resolves with true once the condition holds, or with false after a time.
   *
   * @throws the signal's reason
   */
  until: (
    condition: () => boolean,
    options: { clock: Clock; signal: AbortSignal; ms?: number | undefined },
  ) => Promise<boolean>;
}

export function createLocalRun(input: RunInput): LocalRun {
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const look of [...waiters]) look();
  };
  let [atWork, mustLook] = [0, false];
  const run: LocalRun = {
    input,
    look: () => {
      mustLook = true;
      wake();
    },
    mustLook: () => mustLook,
    takeLook: () => {
      const must = mustLook;
      mustLook = false;
      return must;
    },
    during: (work) => {
      atWork += 1;
      return work.finally(() => {
        atWork -= 1;
      });
    },
    isAtWork: () => atWork > 0,
    carry: startingCarry(input.from),
    isEnded: false,
    wake,
    answer: (signal) => {
      run.carry = takeAnswer(run.carry, signal);
      wake();
    },
    stop: ({ ended }) => {
      run.carry = { ...run.carry, stopRequested: true };
      run.isEnded ||= ended === true;
      wake();
    },
    until: (condition, { clock, signal, ms }) =>
      new Promise((resolve, reject) => {
        let cancel = (): void => undefined;
        const end = (): void => {
          cancel();
          waiters.delete(look);
          signal.removeEventListener('abort', abort);
        };
        const look = (): void => {
          if (!condition()) return;
          end();
          resolve(true);
        };
        const abort = (): void => {
          end();
          reject(signal.reason as Error);
        };
        if (signal.aborted) {
          reject(signal.reason as Error);
          return;
        }
        signal.addEventListener('abort', abort, { once: true });
        waiters.add(look);
        if (ms !== undefined) {
          cancel = clock.after(ms, () => {
            end();
            resolve(condition());
          });
        }
        look();
      }),
  };
  return run;
}
