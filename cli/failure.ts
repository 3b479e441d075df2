import { EXIT, type ExitCode } from './exit-codes.js';

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
