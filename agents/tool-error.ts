/** By this instances are known: classes do not survive duplicated packages. */
const MARK = Symbol.for('helix.tool-error');

/** A tool's failure that the model, and whoever reads the call's result, is told under a code. */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  readonly [MARK] = true;
  readonly code: string;

  /** `message` is told to the model; details belong into `cause`, which goes to the log. */
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** True for every ToolError and what extends it. */
  static isInstance(error: unknown): error is ToolError {
    return error instanceof Error && MARK in error;
  }
}
