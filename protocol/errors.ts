/** Error codes of the contract, a closed set, with their HTTP statuses. */
export const HTTP_STATUS = {
  validation_error: 400,
  not_found: 404,
  checkpoint_not_found: 404,
  message_not_found: 404,
  agent_not_found: 400,
  model_not_found: 404,
  agent_required: 400,
  agent_mismatch: 409,
  agent_already_running: 409,
  queue_full: 429,
  quota_exceeded: 429,
  budget_exceeded: 402,
  message_conflict: 409,
  idempotency_conflict: 409,
  session_exists: 409,
  schedule_exists: 409,
  nothing_to_do: 400,
  body_too_large: 413,
  message_too_large: 413,
  unsupported_media_type: 415,
  unauthorized: 401,
  not_allowed: 403,
  second_person_required: 409,
  invalid_query: 400,
  too_many_requests: 429,
  too_many_streams: 429,
  unavailable: 503,
  already_completed: 409,
  not_pending: 409,
  kind_mismatch: 400,
  stale_run: 409,
  client_out_of_step: 409,
  expired: 409,
  webhook_closed: 410,
  late_answer_after_timeout: 409,
  call_leased: 409,
  no_deadline: 409,
  deadline_too_far: 400,
  answer_too_large: 413,
  invalid_result: 400,
  invalid_input: 400,
  not_resumable: 409,
  stale_state: 409,
  invalid_patch: 400,
  invalid_chunk: 400,
  chunk_too_large: 413,
  stream_owned: 409,
  stream_paused: 409,
  stream_ended: 409,
  stream_truncated: 410,
  writer_fenced: 409,
  writer_closed: 409,
  rewound: 409,
  corrupt_record: 500,
  internal_error: 500,
} as const;
export type ErrorCode = keyof typeof HTTP_STATUS;

/** `isInstance` looks for this mark, since classes differ between duplicated packages. */
const MARK = Symbol.for('helix.error');

/**
 * A refusal with a typed code. `message` is safe to show to a client; details for developers belong
 * in `cause`, which is only logged.
 */
export class HelixError extends Error {
  override readonly name: string = 'HelixError';
  readonly [MARK] = true;
  readonly code: ErrorCode;
  readonly detail: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; detail?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
  }

  get statusCode(): (typeof HTTP_STATUS)[ErrorCode] {
    return HTTP_STATUS[this.code];
  }

  /** Returns true for every HelixError and its subclasses. */
  static isInstance(error: unknown): error is HelixError {
    return error instanceof Error && MARK in error;
  }
}

/** Returns true for a HelixError with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is HelixError {
  return HelixError.isInstance(error) && codes.includes(error.code);
}

/** The session was changed since it was loaded. */
export class StaleStateError extends HelixError {
  override readonly name = 'StaleStateError';

  constructor(sessionId: string, expectedVersion: number) {
    super('stale_state', 'The session was changed meanwhile; load it again.', {
      detail: { sessionId, expectedVersion },
    });
  }
}

/** The session has an active run, and may have only one. */
export class AgentAlreadyRunningError extends HelixError {
  override readonly name = 'AgentAlreadyRunningError';

  constructor(sessionId: string) {
    super('agent_already_running', 'The agent is still answering.', { detail: { sessionId } });
  }
}

/** Chunks after this reader's start were removed; load the state again and read from there. */
export class StreamTruncatedError extends HelixError {
  override readonly name = 'StreamTruncatedError';
  readonly truncatedAtStep: number;
  readonly atSequence: number;

  constructor(streamId: string, truncatedAtStep: number, atSequence: number) {
    super('stream_truncated', 'Part of what was read has been withdrawn.', {
      detail: { streamId, truncatedAtStep, atSequence },
    });
    this.truncatedAtStep = truncatedAtStep;
    this.atSequence = atSequence;
  }
}

/** Codes of the errors that bridge hosts and pages distinguish by class. */
export type FrontendErrorCode =
  | 'VALIDATION_ERROR'
  | 'STREAM_NOT_FOUND'
  | 'STREAM_FAILED'
  | 'EXECUTION_ERROR'
  | 'STREAM_CREATION_ERROR'
  | 'CONFIGURATION_ERROR';

/** HTTP statuses of these errors, as narrow as web frameworks require. */
export type FrontendStatusCode = 400 | 404 | 410 | 500 | 501;

/**
 * An error with which a bridge host may answer: `message` is safe to show, with `code` and
 * `statusCode`. Detail for developers is in `cause`.
 */
export class FrontendHandlerError extends Error {
  override readonly name: string = 'FrontendHandlerError';
  readonly code: FrontendErrorCode;
  readonly statusCode: FrontendStatusCode;

  constructor(
    code: FrontendErrorCode,
    statusCode: FrontendStatusCode,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = code;
    this.statusCode = statusCode;
  }
}

/** The host lacks a required setting, or two of its parts do not fit. */
export class ConfigurationError extends FrontendHandlerError {
  override readonly name = 'ConfigurationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('CONFIGURATION_ERROR', 501, message, options);
  }
}

/** Describes a failure in one line, with the message of its cause. Pure. */
export function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.split('\n')[0]?.replace(/\.$/, '') ?? '';
}

/** A feature needs packages that are not installed; the message has the command that installs them. */
export class MissingPackageError extends HelixError {
  override readonly name = 'MissingPackageError';

  constructor(feature: string, releases: string, cause: unknown) {
    const text = `${feature} needs a package that is not installed: npm install ${releases}`;
    super('unavailable', text, { cause });
  }
}

/**
 * Returns a handler for a failed import of `releases`, as in `jose@6`, which throws what it got
 * unless a package itself is missing. @throws MissingPackageError
 */
export function orMissing(feature: string, releases: string): (error: unknown) => never {
  return (error) => {
    const names = releases.split(' ').map((release) => release.replace(/(?<=.)@.*/, ''));
    if (!names.some((name) => isMissing(error, name))) throw error;
    throw new MissingPackageError(feature, releases, error);
  };
}

/** Returns true if the package itself is missing, and not one of its dependencies. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && (error.message.includes(`'${name}'`) || error.message.includes(`'${name}/`));
}
