import { FrontendHandlerError } from '../../protocol/errors.js';
import type { UIStreamPart } from './ui-stream-part.js';

export { ConfigurationError, FrontendHandlerError } from '../../protocol/errors.js';
export type { FrontendErrorCode, FrontendStatusCode } from '../../protocol/errors.js';

/** An input is missing or malformed. */
export class ValidationError extends FrontendHandlerError {
  override readonly name = 'ValidationError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('VALIDATION_ERROR', 400, message, options);
  }
}

/** The stream does not exist, or belongs to another user. */
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

/** A failure on the server's side; the reason is in `cause`. */
export class ExecutionError extends FrontendHandlerError {
  override readonly name = 'ExecutionError';

  constructor(message = 'Something went wrong on our side.', options?: { cause?: unknown }) {
    super('EXECUTION_ERROR', 500, message, options);
  }
}

/** The reply could not be streamed; the reason is in `cause`. */
export class StreamCreationError extends FrontendHandlerError {
  override readonly name = 'StreamCreationError';

  constructor(message = 'The reply cannot be streamed.', options?: { cause?: unknown }) {
    super('STREAM_CREATION_ERROR', 500, message, options);
  }
}

/** A failure as a stream reports it: its `error` part has the text, `data-error` the rest. */
export interface StreamErrorEvent {
  errorText?: string | undefined;
  error?: string | undefined;
  code?: string | undefined;
  recoverable?: boolean | undefined;
  /** True if the same request may succeed later. */
  retryable?: boolean | undefined;
}

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

/** A failure of an agent's model or tool, as its stream reported it. */
export class HelixStreamError extends Error {
  override readonly name = 'HelixStreamError';
  readonly code: string | undefined;
  readonly recoverable: boolean;
  /** True if the same request may succeed later. */
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

/** Text that a stock client shows for a reply that broke off. */
export const BROKEN_OFF = 'The connection was lost while the reply came in.';

/** The response cannot be completed. It says so and ends: many proxies do not pass on a cut. */
export class StreamBrokenError extends Error {
  override readonly name: string = 'StreamBrokenError';
  /** Last parts for the reader. */
  readonly parts: readonly UIStreamPart[];

  constructor(message: string, parts: readonly UIStreamPart[] = [], options?: ErrorOptions) {
    super(message, options);
    this.parts = parts;
  }
}

/** The reader is slower than the stream; its connection is cut without a last event. */
export class SlowReaderError extends StreamBrokenError {
  constructor() {
    super('the viewer is too slow');
  }
}
