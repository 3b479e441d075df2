import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from './until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STOP_MS = 40_000;
/** Time limit for a log line; on an idle machine a process starts in a second. */
const SAYS_MS = 45_000;

/** A real process of the product, with its whole log. */
export interface ProductProcess {
  readonly pid: number;
  readonly exitCode: Promise<number | null>;
  log: () => string;
  /** Resolves with the log line that has this message. */
  says: (message: string) => Promise<Record<string, unknown>>;
  kill9: () => Promise<void>;
  /** @throws Error if the process has already ended on its own */
  stop: () => Promise<void>;
}

/**
 * Starts `node dist/<role>/main.js` with this process's Node options; it ends with this process.
 */
export function startProcess(role: 'api' | 'worker', env: Record<string, string>): ProductProcess {
  const child = spawn(process.execPath, [...process.execArgv, `dist/${role}/main.js`], {
    cwd: ROOT,
    // The child gets only what every machine has; the test supplies the settings.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  let hasEnded = false;
  let isWanted = false;
  const take = (text: Buffer): void => {
    log += text.toString();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const exitCode = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      log += error.message;
      resolve(null);
    });
    child.once('close', (code, signal) => {
      log += `(ended with ${signal ?? String(code)})\n`;
      resolve(code);
    });
  }).finally(() => {
    hasEnded = true;
  });

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (hasEnded && !isWanted) throw new Error(`the ${role} ended unexpectedly:\n${log}`);
    isWanted = true;
    if (hasEnded) return;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exitCode;
    clearTimeout(timer);
    if (signal === 'SIGTERM' && child.signalCode === 'SIGKILL') {
      throw new Error(`the ${role} does not end on request:\n${log}`);
    }
  }

  return {
    pid: child.pid ?? 0,
    exitCode,
    log: () => log,
    says: async (message) => {
      const find = (): Record<string, unknown> | undefined => {
        if (hasEnded) throw new Error(`the ${role} ended:\n${log}`);
        return findLine(log, message);
      };
      return until(`the ${role} says "${message}"`, find, SAYS_MS);
    },
    kill9: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

function findLine(log: string, message: string): Record<string, unknown> | undefined {
  for (const line of log.split('\n')) {
    if (!line.includes(`"msg":${JSON.stringify(message)}`)) continue;
    return JSON.parse(line) as Record<string, unknown>;
  }
  return undefined;
}
