/** Exit codes of the command line, see docs/cli.md. */
export const EXIT = {
  done: 0,
  /** A run failed, or the server refused the request. */
  failed: 1,
  /** A run waits for people. */
  waits: 2,
  /** A run was stopped. */
  stopped: 3,
  /** The command line was invalid, or confirmation was impossible. */
  usage: 64,
  /** The server cannot be reached, or cannot answer now. */
  unavailable: 69,
  /** Not signed in, or not allowed. */
  notAllowed: 77,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with an exit code and a sentence for the user. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
  /** The server's error code, if it refused. */
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
