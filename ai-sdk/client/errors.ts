import { BROKEN_OFF } from '../parts/errors.js';

/** A request that the server refused. The message is the response body, as in stock transports. */
export class ChatRequestError extends Error {
  override readonly name = 'ChatRequestError';
  readonly statusCode: number;
  readonly responseBody: string;
  /** Code of the refusal, if the body names one. */
  readonly code: string | undefined;

  constructor(statusCode: number, responseBody: string) {
    super(responseBody === '' ? `The server replied with ${String(statusCode)}.` : responseBody);
    this.statusCode = statusCode;
    this.responseBody = responseBody;
    this.code = readCode(responseBody);
  }

  /** Returns true if the server is away or overloaded, so that the same request may soon succeed. */
  get isPassing(): boolean {
    const { statusCode, code = '' } = this;
    return (statusCode >= 502 || statusCode === 408 || statusCode === 429) && !LASTING.has(code);
  }
}

/** Refusals with status 429 that hold until the user does something. */
const LASTING = new Set(['queue_full', 'quota_exceeded']);

/** Handles a rejection: resolves to undefined if there is no such conversation. @throws any other error */
export function noneIfMissing(error: unknown): undefined {
  if (error instanceof ChatRequestError && error.statusCode === 404) return undefined;
  throw error;
}

/** Returns the code of a refusal's body, if it names one. */
export function readCode(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || !('code' in value)) return undefined;
    return typeof value.code === 'string' ? value.code : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The server has `withdrawn` part of the shown message, or stayed `unreachable`. The page removes
 * the message and follows the turn from its beginning, as in `rebuildReply`.
 */
export class ReplyBrokenError extends Error {
  // The class is no TypeError: stock chats treat one as a network failure and keep their copy.
  override readonly name = 'ReplyBrokenError';
  readonly reason: 'withdrawn' | 'unreachable';

  constructor(reason: ReplyBrokenError['reason'], cause?: unknown) {
    super(reason === 'withdrawn' ? 'The reply has to be loaded again.' : BROKEN_OFF, { cause });
    this.reason = reason;
  }

  /** Returns true also for the error of another copy of this module. */
  static isInstance(error: unknown): error is ReplyBrokenError {
    return error instanceof Error && error.name === 'ReplyBrokenError' && 'reason' in error;
  }
}

/**
 * Returns true for connection errors of `fetch` and bodies. It checks the name, since errors of
 * another realm (a frame, a test runner) are instances of other classes.
 */
export function isNetworkError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'name' in error && error.name === 'TypeError'
  );
}
