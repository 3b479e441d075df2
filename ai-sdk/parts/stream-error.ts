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
