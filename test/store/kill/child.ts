import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../../support/until.js';

/** A child process that reports its progress. */
export interface Child<T> {
  readonly messages: T[];
  /** Resolves when the child has sent `times` matching messages. */
  sends: (what: string, matches: (message: T) => boolean, times?: number) => Promise<void>;
  proceed: () => void;
  signal: (signal: NodeJS.Signals) => void;
  /** Kills the child unless it has ended; resolves when it is gone. */
  kill9: () => Promise<void>;
}

const PATIENCE_MS = 45_000;

export function startChild<T>(script: string, input: object): Child<T> {
  const messages: T[] = [];
  let errors = '';
  let isGone = false;
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  child.on('message', (message) => messages.push(message as T));
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
    messages,
    sends: async (what, matches, times = 1) => {
      await until(
        `${script} sends ${what}`,
        () => {
          if (messages.filter(matches).length >= times) return true;
          if (isGone) throw new Error(`${script} ended before it sent ${what}:\n${errors}`);
          return false;
        },
        PATIENCE_MS,
      );
    },
    proceed: () => child.send('proceed'),
    signal: (signal) => child.kill(signal),
    kill9: async () => {
      if (!isGone) child.kill('SIGKILL');
      await gone;
    },
  };
}
