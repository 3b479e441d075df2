import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../cli/run.js';
import { startProgram, type Program } from './program.js';

export const COMMAND_LINE = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  env?: Record<string, string>;
  /** Default: this project. */
  folder?: string;
  input?: string;
}

/** Starts the built command line as a child process, without a terminal. */
export function startCommand(
  args: readonly string[],
  { env = {}, input = '', folder }: CommandOptions = {},
): Program {
  const all = [...process.execArgv, COMMAND_LINE, ...args];
  return startProgram(process.execPath, all, { cwd: folder, env, input });
}

/** Runs a command to its end, in this process unless it has its own folder or Node settings. */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const isOfNode = Object.keys(options.env ?? {}).some((name) => name.startsWith('NODE_'));
  if (isOfNode || options.folder !== undefined) return startCommand(args, options).ended;
  const { PATH, HOME } = process.env;
  const [out, err] = [new PassThrough(), new PassThrough()];
  const host = Object.assign(new EventEmitter(), {
    argv: [process.execPath, COMMAND_LINE, ...args],
    env: { PATH, HOME, ...options.env },
    stdin: Readable.from([Buffer.from(options.input ?? '')]),
    stdout: out,
    stderr: err,
    exitCode: 0,
    exit: () => undefined,
  });
  const written = Promise.all([text(out), text(err)]);
  await runCommandLine(host as unknown as NodeJS.Process, '0.0.0');
  out.end();
  err.end();
  const [stdout, stderr] = await written;
  return { code: host.exitCode, stdout, stderr };
}

export interface CommandLine {
  helix: (args: string[], input?: string) => Promise<CommandResult>;
  /** Runs a command that must succeed and parses its result as JSON. */
  read: <T>(...args: string[]) => Promise<T>;
}

export function useCommandLine(product: { readonly url: string }): CommandLine {
  const helix = (args: string[], input = ''): Promise<CommandResult> =>
    runCommand(args, { env: { HELIX_URL: product.url, NO_COLOR: '1' }, input });

  async function read<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await helix([...args, '-o', 'json']);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }
  return { helix, read };
}
