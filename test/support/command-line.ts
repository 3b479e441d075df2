import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** How a command ended, and what it wrote. */
export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  env?: Record<string, string>;
  /** What it reads from stdin. */
  input?: string;
}

/** A command that runs. */
export interface RunningCommand {
  /** What it wrote to stdout so far. */
  stdout: () => string;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<CommandResult>;
}

/** Starts the built command line as a child process, without a terminal. */
export function startCommand(
  args: readonly string[],
  { env = {}, input = '' }: CommandOptions = {},
): RunningCommand {
  const child = spawn(process.execPath, [MAIN, ...args], {
    // Only what a machine has anyway; the settings are the test's.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  return { stdout: () => stdout, kill: (signal) => child.kill(signal), ended };
}

/** Runs a command to its end. */
export function runCommand(
  args: readonly string[],
  options?: CommandOptions,
): Promise<CommandResult> {
  return startCommand(args, options).ended;
}
