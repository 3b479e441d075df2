import { CommanderError } from 'commander';
import { MissingPackageError } from '../protocol/optional-package.js';
import { createApiClient } from './api/client.js';
import type { Cli } from './cli.js';
import { withFileOfRecord } from './commands/eval.js';
import { EXIT, type ExitCode } from './failure.js';
import { CliFailure } from './failure.js';
import { parseUrl } from './parse-values.js';
import { createProgram } from './program.js';
import { createTerminal, type Terminal } from './terminal.js';

/** Address of a server that `npm start` runs. */
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
  const cli: Cli = {
    terminal,
    env,
    now: Date.now,
    connect: ({ url, via = 'cli', ...named } = {}) =>
      createApiClient({
        ...named,
        url: url ?? readUrl(env['HELIX_URL']),
        token: readToken(env['HELIX_TOKEN']),
        via,
        onWait: (ms) => {
          terminal.note(`The server asks to wait ${String(ms / 1_000)} s.`);
        },
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
    const own = env['EXTENSIONS']?.trim();
    const extensions = own
      ? await (
          await import('../extensions/own-files/index.js')
        )
          .loadExtensions(own)
          .catch((error: unknown) => {
            throw new CliFailure(
              error instanceof Error ? error.message : String(error),
              EXIT.usage,
            );
          })
      : [];
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

/** Resolves when all output is written. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => {
      resolve();
    });
  });
}

/** Prints the failure and returns its exit code. */
function reportFailure(terminal: Terminal, error: unknown): ExitCode {
  if (error instanceof CommanderError) {
    // The parser has printed its error; help and version also end with a `CommanderError`.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  if (error instanceof CliFailure) {
    terminal.note(error.message);
    return error.exitCode;
  }
  if (error instanceof MissingPackageError) {
    terminal.note(error.message);
    return EXIT.failed;
  }
  terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.failed;
}

/** Trims the line break at the end of a secret's file. */
function readToken(text = ''): string | undefined {
  const token = text.trim();
  return token === '' ? undefined : token;
}

function readUrl(text: string | undefined): string {
  if (!text?.trim()) return DEFAULT_URL;
  try {
    return parseUrl(text.trim());
  } catch {
    throw new CliFailure('HELIX_URL must be an address: http://host:port.', EXIT.usage);
  }
}
