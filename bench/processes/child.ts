import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const GRACE_MS = 8_000;

export interface Child {
  pid: number;
  stop: () => Promise<void>;
}

/**
 * Starts a program of this build. The IPC channel carries no messages: it closes when this process
 * dies, however it dies, and then the child ends too.
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
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}
