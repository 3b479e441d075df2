import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../clock.js';
import { cpuSeconds } from '../processes/usage.js';

const RESTART_MS = 1_000;
const GRACE_MS = 5_000;

/** A program of a peer, which can be killed and started again. */
export interface PeerProcess {
  cpuSeconds: () => number;
  crash: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts a program in a folder of installed peers. What it prints is in `output.log` there. */
export function startPeer(folder: string, file: string, env: Record<string, string>): PeerProcess {
  const log = openSync(join(folder, 'output.log'), 'a');
  let child = start();
  let spent = 0;

  function start(): ChildProcess {
    const main = join(folder, file);
    return spawn(process.execPath, ['--max-semi-space-size=64', main], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: 'production', ...env },
      stdio: ['ignore', log, log],
    });
  }

  const spentNow = (): number => (child.pid === undefined ? 0 : (cpuSeconds(child.pid) ?? 0));

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    spent += spentNow();
    const exited = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await exited;
    clearTimeout(timer);
  }

  return {
    cpuSeconds: () => spent + spentNow(),
    crash: async () => {
      await end('SIGKILL');
      await sleep(RESTART_MS);
      child = start();
    },
    stop: () => end('SIGTERM'),
  };
}
