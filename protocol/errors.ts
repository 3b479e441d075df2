/** Errors of the contract: a closed set of codes. Recognised by name, since classes do not survive module reloads. */
export type ErrorCode =
  | 'validation_error'
  | 'not_found'
  | 'agent_not_found'
  | 'agent_required'
  | 'agent_mismatch'
  | 'agent_already_running'
  | 'message_conflict'
  | 'nothing_to_do'
  | 'body_too_large'
  | 'message_too_large'
  | 'unauthorized'
  | 'unavailable'
  | 'already_completed'
  | 'not_pending'
  | 'kind_mismatch'
  | 'stale_run'
  | 'client_out_of_step'
  | 'internal_error';

/** HTTP status of each code. */
export const HTTP_STATUS: Record<ErrorCode, number> = {
  validation_error: 400,
  not_found: 404,
  agent_not_found: 400,
  agent_required: 400,
  agent_mismatch: 409,
  agent_already_running: 409,
  message_conflict: 409,
  nothing_to_do: 400,
  body_too_large: 413,
  message_too_large: 413,
  unauthorized: 401,
  unavailable: 503,
  already_completed: 409,
  not_pending: 409,
  kind_mismatch: 400,
  stale_run: 409,
  client_out_of_step: 409,
  internal_error: 500,
};

/**
 * A refusal with a typed code. `message` is safe to show to a client; what only developers should
 * read belongs into `cause`, which goes to the log.
 */
export class HelixError extends Error {
  readonly code: ErrorCode;
  readonly detail: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; detail?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HelixError';
    this.code = code;
    this.detail = options.detail;
  }

  get statusCode(): number {
    return HTTP_STATUS[this.code];
  }

  static isInstance(error: unknown): error is HelixError {
    return error instanceof Error && error.name === 'HelixError' && 'code' in error;
  }
}
