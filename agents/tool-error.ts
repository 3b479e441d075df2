/** Identifies instances: `instanceof` fails across duplicated packages. */
const MARK = Symbol.for('helix.tool-error');

/** A tool's failure with a code that the model and readers of the call's result see. */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  readonly [MARK] = true;
  readonly code: string;

  /** The model sees `message`; details belong into `cause`, which is only logged. */
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Returns true for every ToolError and its subclasses. */
  static isInstance(error: unknown): error is ToolError {
    return error instanceof Error && MARK in error;
  }
}

/**
 * `state_invalid`: the state does not fit the schema, is no JSON, or is nested too deeply;
 * `state_too_large`; `state_missing`: the agent has no state.
 */
export type StateErrorCode = 'state_invalid' | 'state_too_large' | 'state_missing';

/** Thrown if the agent's state cannot be read or changed in this way; nothing was changed. */
export class StateError extends ToolError {
  override readonly name = 'StateError';
  declare readonly code: StateErrorCode;
}
