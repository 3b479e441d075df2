/** Exit codes of the command line, see docs/cli.md. */
export const EXIT = {
  done: 0,
  /** A run failed, or the server refused what was asked. */
  failed: 1,
  /** A run waits for people. */
  waits: 2,
  /** A run was stopped. */
  stopped: 3,
  /** The command line was wrong, or its question could not be asked. */
  usage: 64,
  /** The server cannot be reached, or cannot answer now. */
  unavailable: 69,
  /** Not signed in, or not allowed. */
  notAllowed: 77,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with a sentence for the person who typed it, and an exit code. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
  /** The server's code of a refusal. */
  readonly code: string | undefined;

  constructor(message: string, exitCode: ExitCode = EXIT.failed, code?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

export function wrongUsage(message: string): CliFailure {
  return new CliFailure(message, EXIT.usage);
}
