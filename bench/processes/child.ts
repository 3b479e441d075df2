import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GRACE_MS = 8_000;
const THIS_BUILD = fileURLToPath(new URL('../..', import.meta.url));

export type Child = ReturnType<typeof startChild>;

export interface ChildOptions {
  env?: Record<string, string>;
  args?: string[];
  nodeArgs?: string[];
  /** Folder of another build; default: this build's. */
  build?: string | undefined;
  cwd?: string;
  /** File for the child's output; without it only errors are shown. */
  logFile?: string;
  /** Time limit of an orderly end, ms. */
  graceMs?: number;
}

/** Starts a program of this build. Its channel closes however this process dies, and then the child ends too. */
export function startChild(file: string, options: ChildOptions = {}) {
  const { env = {}, args = [], nodeArgs = [], build = THIS_BUILD, cwd, logFile } = options;
  const { graceMs = GRACE_MS } = options;
  const log = logFile === undefined ? undefined : openSync(logFile, 'a');
  const child = spawn(process.execPath, [...nodeArgs, join(build, file), ...args], {
    // In its own session, Ctrl-C reaches only this process, which then stops its children.
    detached: true,
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', log ?? 'ignore', log ?? 'inherit', 'ipc'],
  });
  if (log !== undefined) closeSync(log);
  const exited = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  return {
    pid: child.pid ?? 0,
    /** Resolves to the child's next message; rejects when the child ends. */
    hear: async (): Promise<unknown> => {
      const heard = (await Promise.race([once(child, 'message'), exited])) as unknown[] | undefined;
      if (heard === undefined) throw new Error('a process of the bench ended too early');
      return heard[0];
    },
    tell: (word: string) => void child.send(word),
    exited,
    kill9: () => void child.kill('SIGKILL'),
    stop: async (): Promise<void> => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
