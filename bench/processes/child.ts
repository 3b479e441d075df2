import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const GRACE_MS = 8_000;

export interface Child {
  pid: number;
  /** The child's next message; earlier ones are queued. Rejects when the child ends. */
  hear: () => Promise<unknown>;
  tell: (word: string) => void;
  stop: () => Promise<void>;
}

/**
 * Starts a program of this build. Its channel closes when this process dies, however it dies, and
 * then the child ends too.
 */
export function startChild(
  file: string,
  options: { env?: Record<string, string>; args?: string[]; nodeArgs?: string[] } = {},
): Child {
  const main = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const { env = {}, args = [], nodeArgs = [] } = options;
  const child = spawn(process.execPath, [...nodeArgs, main, ...args], {
    // In a session of its own: Ctrl-C reaches only this process, which then stops its children.
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', () => {
      resolve();
    });
  });
  const heard = createInbox();
  child.on('message', heard.put);
  void exited.then(heard.close);
  return {
    pid: child.pid ?? 0,
    hear: heard.take,
    tell: (word) => child.send(word),
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

function createInbox(): {
  put: (word: unknown) => void;
  take: () => Promise<unknown>;
  close: () => void;
} {
  const words: unknown[] = [];
  let isClosed = false;
  let wake: (() => void) | undefined;
  return {
    put: (word) => {
      words.push(word);
      wake?.();
    },
    close: () => {
      isClosed = true;
      wake?.();
    },
    take: async () => {
      while (words.length === 0) {
        if (isClosed) throw new Error('a process of the bench ended too early');
        await new Promise<void>((resolve) => (wake = resolve));
      }
      return words.shift();
    },
  };
}
