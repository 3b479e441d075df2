/** A failed attempt to deliver a notice. Its message contains no secrets of the settings. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
  readonly code: string;
  /** Pause that the receiver asked for, ms. */
  readonly retryAfterMs: number | undefined;
  /** True if no further attempt can succeed. */
  readonly isFinal: boolean;

  constructor(
    code: string,
    message: string,
    options: { retryAfterMs?: number | undefined; isFinal?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.isFinal = options.isFinal ?? false;
  }
}
