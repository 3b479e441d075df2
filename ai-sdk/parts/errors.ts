import type { UIStreamPart } from './ui-stream-part.js';

/** Codes of the errors that hosts of the bridge, and pages, tell apart by class. */
export type FrontendErrorCode =
  | 'VALIDATION_ERROR'
  | 'STREAM_NOT_FOUND'
  | 'STREAM_FAILED'
  | 'EXECUTION_ERROR'
  | 'STREAM_CREATION_ERROR'
  | 'CONFIGURATION_ERROR';

/**
 * What a host of the bridge may answer with: `message` is safe to show, `code` and `statusCode` go
 * with it. What only developers should read is in `cause`.
 */
export class FrontendHandlerError extends Error {
  override readonly name: string = 'FrontendHandlerError';
  readonly code: FrontendErrorCode;
  /** HTTP status. */
  readonly statusCode: number;

  constructor(
    code: FrontendErrorCode,
    statusCode: number,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = code;
    this.statusCode = statusCode;
  }
}

/** What was asked for is missing, or has no valid form. */
export class ValidationError extends FrontendHandlerError {
  override readonly name = 'ValidationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('VALIDATION_ERROR', 400, message, options);
  }
}

/** There is no such stream, or it is somebody else's. */
export class StreamNotFoundError extends FrontendHandlerError {
  override readonly name = 'StreamNotFoundError';

  constructor(message = 'There is no such conversation.', options?: { cause?: unknown }) {
    super('STREAM_NOT_FOUND', 404, message, options);
  }
}

/** The run has failed, and its stream with it. */
export class StreamFailedError extends FrontendHandlerError {
  override readonly name = 'StreamFailedError';

  constructor(message = 'The run failed.', options?: { cause?: unknown }) {
    super('STREAM_FAILED', 410, message, options);
  }
}

/** Something went wrong on the server's side, and `cause` knows what. */
export class ExecutionError extends FrontendHandlerError {
  override readonly name = 'ExecutionError';

  constructor(message = 'Something went wrong on our side.', options?: { cause?: unknown }) {
    super('EXECUTION_ERROR', 500, message, options);
  }
}

/** The reply could not be streamed, for a reason that `cause` knows. */
export class StreamCreationError extends FrontendHandlerError {
  override readonly name = 'StreamCreationError';

  constructor(message = 'The reply cannot be streamed.', options?: { cause?: unknown }) {
    super('STREAM_CREATION_ERROR', 500, message, options);
  }
}

/** The host has not been given what it needs. */
export class ConfigurationError extends FrontendHandlerError {
  override readonly name = 'ConfigurationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('CONFIGURATION_ERROR', 501, message, options);
  }
}

/** What a stream says of a failure: its `error` part has the text, `data-error` the rest. */
export interface StreamErrorEvent {
  errorText?: string | undefined;
  /** The same in `data-error`. */
  error?: string | undefined;
  code?: string | undefined;
  /** True if the run goes on. */
  recoverable?: boolean | undefined;
  /** True if the same request may succeed later. */
  retryable?: boolean | undefined;
}

/** Codes of failures that may pass. */
const PASSING = new Set([
  'provider_overloaded',
  'provider_rate_limited',
  'provider_error',
  'provider_stream_cut',
  'model_stalled',
  'output_missing',
  'invalid_output',
  'unavailable',
]);

/** A failure of an agent that came with its stream: of the model, of a tool. */
export class HelixStreamError extends Error {
  override readonly name = 'HelixStreamError';
  readonly code: string | undefined;
  readonly recoverable: boolean;
  /** True if it is worth trying again. */
  readonly retryable: boolean;

  private constructor({ errorText, error, code, recoverable, retryable }: StreamErrorEvent) {
    super(errorText ?? error);
    this.code = code;
    this.recoverable = recoverable === true;
    this.retryable = retryable ?? (this.recoverable || (code !== undefined && PASSING.has(code)));
  }

  static fromEvent(event: StreamErrorEvent): HelixStreamError {
    return new HelixStreamError(event);
  }
}

/** The response cannot be completed; its connection is to be cut, never ended. */
export class StreamBrokenError extends Error {
  override readonly name: string = 'StreamBrokenError';
  /** What the reader is told before. */
  readonly parts: readonly UIStreamPart[];

  constructor(message: string, parts: readonly UIStreamPart[] = []) {
    super(message);
    this.parts = parts;
  }
}

/** The reader takes less than there is to tell. */
export class SlowReaderError extends StreamBrokenError {
  constructor() {
    super('the viewer is too slow');
  }
}
