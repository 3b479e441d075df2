import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../../support/until.js';

/** A process that tells what it does. */
export interface Child<T> {
  /** Everything that it told so far. */
  readonly told: T[];
  /** Resolves when it has told something of this kind, so often. */
  tells: (what: string, matches: (message: T) => boolean, times?: number) => Promise<void>;
  goOn: () => void;
  signal: (signal: NodeJS.Signals) => void;
  /** Kills it unless it has ended; resolves when it is gone. */
  kill9: () => Promise<void>;
}

const PATIENCE_MS = 45_000;

/** Starts a script of this folder. */
export function startChild<T>(script: string, input: object): Child<T> {
  const told: T[] = [];
  let errors = '';
  let isGone = false;
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  child.on('message', (message) => told.push(message as T));
  child.stderr?.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => {
      isGone = true;
      resolve();
    });
  });
  return {
    told,
    tells: async (what, matches, times = 1) => {
      await until(
        `${script} tells ${what}`,
        () => {
          if (told.filter(matches).length >= times) return true;
          if (isGone) throw new Error(`${script} ended before it told ${what}:\n${errors}`);
          return false;
        },
        PATIENCE_MS,
      );
    },
    goOn: () => child.send('go on'),
    signal: (signal) => child.kill(signal),
    kill9: async () => {
      if (!isGone) child.kill('SIGKILL');
      await gone;
    },
  };
}
