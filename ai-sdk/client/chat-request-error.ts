/** A request that the server refused. The message is the body, as stock transports have it. */
export class ChatRequestError extends Error {
  override readonly name = 'ChatRequestError';
  readonly statusCode: number;
  readonly responseBody: string;
  /** The code of the refusal, if the body names one. */
  readonly code: string | undefined;

  constructor(statusCode: number, responseBody: string) {
    super(responseBody === '' ? `The server replied with ${String(statusCode)}.` : responseBody);
    this.statusCode = statusCode;
    this.responseBody = responseBody;
    this.code = readCode(responseBody);
  }

  /** True if the server is away or overloaded, so that the same request may be taken in a moment. */
  get isPassing(): boolean {
    const { statusCode, code = '' } = this;
    return (statusCode >= 502 || statusCode === 408 || statusCode === 429) && !LASTING.has(code);
  }
}

/** Refusals with status 429 that hold until the user does something. */
const LASTING = new Set(['queue_full', 'quota_exceeded']);

function readCode(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || !('code' in value)) return undefined;
    return typeof value.code === 'string' ? value.code : undefined;
  } catch {
    return undefined;
  }
}
