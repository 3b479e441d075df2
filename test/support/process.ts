import { fileURLToPath } from 'node:url';
import { startProgram } from './program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STOP_MS = 100_000;

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
  const args = [...process.execArgv, `dist/${role}/main.js`];
  const program = startProgram(process.execPath, args, { cwd: ROOT, env, hasChannel: true });
  let isWanted = false;

  async function end(wanted: NodeJS.Signals): Promise<void> {
    if (program.hasEnded() && !isWanted)
      throw new Error(`the ${role} ended unexpectedly:\n${program.output()}`);
    isWanted = true;
    if (program.hasEnded()) return;
    program.kill(wanted);
    const timer = setTimeout(() => {
      program.kill('SIGKILL');
    }, STOP_MS);
    const { signal } = await program.ended;
    clearTimeout(timer);
    if (wanted === 'SIGTERM' && signal === 'SIGKILL')
      throw new Error(`the ${role} does not end on request:\n${program.output()}`);
  }

  return {
    pid: program.pid,
    exitCode: program.ended.then(({ code }) => code),
    log: program.output,
    says: (message) => program.prints(message, (log) => findLine(log, message)),
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
