/** An attempt that the receiver did not take. Its message holds nothing secret of the settings. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
  readonly code: string;
  /** The receiver asked to be left alone for this long, ms. */
  readonly retryAfterMs: number | undefined;
  /** No further attempt is of use. */
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
