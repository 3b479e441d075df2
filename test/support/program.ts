import { spawn } from 'node:child_process';
import { until } from './until.js';

/** On an idle machine a process starts in a second. */
const PRINTS_MS = 120_000;

export interface ProgramOptions {
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  input?: string;
  /** Gives the program a channel, which closes when this process ends. */
  hasChannel?: boolean;
  /** Signals also reach the programs that it started. */
  isGroup?: boolean;
}

export interface ProgramEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A program that was started, with all that it has printed. */
export interface Program {
  readonly pid: number;
  /** Resolves when the program has ended and its streams are closed. */
  readonly ended: Promise<ProgramEnd>;
  hasEnded: () => boolean;
  stdout: () => string;
  /** Returns both streams as they came, and how the program ended. */
  output: () => string;
  /**
   * Resolves to the first result of `find`, which gets the complete lines of the output.
   * @throws Error with the output if the program ends before, or is late
   */
  prints: <T>(
    what: string,
    find: (lines: string) => T | null | undefined | false,
    withinMs?: number,
  ) => Promise<T>;
  /** Does nothing when the program has ended. */
  kill: (signal?: NodeJS.Signals) => void;
}

export function startProgram(
  file: string,
  args: readonly string[],
  { cwd, env, input = '', hasChannel = false, isGroup = false }: ProgramOptions = {},
): Program {
  const child = spawn(file, args, {
    cwd,
    // The program gets only what every machine has; the test supplies the settings.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    detached: isGroup,
    stdio: ['pipe', 'pipe', 'pipe', ...(hasChannel ? ['ipc' as const] : [])],
  });
  const pid = child.pid ?? 0;
  const printed = { stdout: '', stderr: '' };
  let output = '';
  let hasEnded = false;
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      output += text;
    });
  child.stdin?.on('error', () => undefined).end(input);
  // A program that cannot be started closes too.
  child.once('error', (error) => (output += `${error.message}\n`));
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      output += `(ended with ${signal ?? String(code)})\n`;
      resolve({ code, signal, ...printed });
    });
  });

  return {
    pid,
    ended,
    hasEnded: () => hasEnded,
    stdout: () => printed.stdout,
    output: () => output,
    prints: async (what, find, withinMs = PRINTS_MS) => {
      const ask = () => {
        const found = find(output.slice(0, output.lastIndexOf('\n') + 1)) ?? undefined;
        if (hasEnded && (found === undefined || found === false)) throw new Error('it has ended');
        return found;
      };
      return until(what, ask, withinMs).catch((cause: unknown) => {
        throw new Error(`${file} did not print ${what}:\n${output}`, { cause });
      });
    },
    kill: (signal = 'SIGTERM') => {
      const isRunning = pid !== 0 && child.exitCode === null && child.signalCode === null;
      if (isRunning) process.kill(isGroup ? -pid : pid, signal);
    },
  };
}
