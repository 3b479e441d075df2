/** Exit codes of the command line, see docs/cli.md. */
export const EXIT = {
  done: 0,
  /** A run failed, or the server refused the request. */
  failed: 1,
  waits: 2,
  stopped: 3,
  /** The command line was invalid, or confirmation was impossible. */
  usage: 64,
  /** The server cannot be reached, or cannot answer now. */
  unavailable: 69,
  notAllowed: 77,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with an exit code and a sentence for the user. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
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
