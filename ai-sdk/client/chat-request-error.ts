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

  /** True if the same request may be taken later. */
  get isPassing(): boolean {
    return isPassing(this.statusCode);
  }
}

/** Statuses of a server that is away or overloaded, as opposed to one that declines. */
export function isPassing(statusCode: number): boolean {
  return statusCode >= 502 || statusCode === 408 || statusCode === 429;
}

function readCode(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || !('code' in value)) return undefined;
    return typeof value.code === 'string' ? value.code : undefined;
  } catch {
    return undefined;
  }
}
