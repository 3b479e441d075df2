import { CommanderError } from 'commander';
import { MissingPackageError } from '../protocol/errors.js';
import { createApiClient } from './api/client.js';
import type { Cli } from './cli.js';
import { withFileOfRecord } from './commands/eval.js';
import { CliFailure, EXIT, wrongUsage, type ExitCode } from './failure.js';
import { parseUrl } from './parse-values.js';
import type { CliExtension } from './extension.js';
import { createProgram } from './program.js';
import { createTerminal, type Terminal } from './terminal.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Executes the command line of a process and sets its exit code. */
export async function runCommandLine(process: NodeJS.Process, version: string): Promise<void> {
  const { env } = process;
  const interrupt = (): never => process.exit(EXIT.interrupted);
  process.once('SIGINT', interrupt);
  let endsItself = false as boolean;
  // The reader of the pipe, such as `head`, has closed it.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    throw error;
  });
  const terminal = createTerminal(process, env);
  // A secret's file ends with a line break.
  const token = env['HELIX_TOKEN']?.trim();
  const cli: Cli = {
    terminal,
    env,
    now: Date.now,
    connect: ({ url, via = 'cli', ...named } = {}) =>
      createApiClient({
        ...named,
        url: url ?? readUrl(env['HELIX_URL']),
        token: token === '' ? undefined : token,
        via,
        onWait: (ms) => terminal.note(`The server asks to wait ${String(ms / 1_000)} s.`),
      }),
    exitWith: (code) => {
      process.exitCode = code;
    },
    takeInterrupts: (onInterrupt) => {
      process.off('SIGINT', interrupt);
      if (onInterrupt !== undefined) process.once('SIGINT', onInterrupt);
      endsItself = true;
    },
    endWithCommand: () => {
      endsItself = true;
    },
  };
  try {
    const extensions = await loadExtensions(env['EXTENSIONS']?.trim());
    await createProgram(cli, { version, extensions }).parseAsync(withFileOfRecord(process.argv));
  } catch (error) {
    process.exitCode = reportFailure(terminal, error);
  }
  // Stopped work may still wait for an answer, and connections keep a process alive.
  if (endsItself) {
    await Promise.all([flush(process.stdout), flush(process.stderr)]);
    process.exit();
  }
}

/** Loads the extensions of the file that EXTENSIONS names. @throws CliFailure */
async function loadExtensions(file: string | undefined): Promise<CliExtension[]> {
  if (!file) return [];
  const own = await import('../extensions/own-files/index.js');
  return own.loadExtensions<CliExtension>(file).catch((error: unknown) => {
    throw wrongUsage(error instanceof Error ? error.message : String(error));
  });
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

function reportFailure(terminal: Terminal, error: unknown): ExitCode {
  if (error instanceof CommanderError) {
    // The parser has printed its error; help and version also end with a `CommanderError`.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  if (error instanceof CliFailure || error instanceof MissingPackageError) {
    terminal.note(error.message);
    return error instanceof CliFailure ? error.exitCode : EXIT.failed;
  }
  terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.failed;
}

function readUrl(text: string | undefined): string {
  if (!text?.trim()) return DEFAULT_URL;
  try {
    return parseUrl(text.trim());
  } catch {
    throw wrongUsage('HELIX_URL must be an address without credentials: http://host:port.');
  }
}
