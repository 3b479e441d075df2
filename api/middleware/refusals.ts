import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { toProblem } from '../../ai-sdk/index.js';
import type { z } from 'zod';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';

export interface ApiLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
}

export const refuseUnknown: RequestHandler = (request) => {
  throw new HelixError('not_found', `There is no ${request.method} ${request.path}.`);
};

/** Turns errors into replies: typed refusals as they are, any other error without its details. */
export function createErrorResponder(
  logger: ApiLogger,
  sendRefusal: SendRefusal,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const refusal = toRefusal(error);
    if (refusal.statusCode >= 500 || response.headersSent) {
      const fields = { err: refusal.cause ?? error, method: request.method, path: request.path };
      logger.error(fields, refusal.message);
    }
    if (response.headersSent) {
      // The status is sent already; a broken reply must not look complete.
      response.destroy();
      next();
      return;
    }
    sendRefusal(request, response, refusal);
  };
}

/** Converts any error to a refusal; an error of Express for a malformed path carries a status. */
function toRefusal(error: unknown): HelixError {
  if (HelixError.isInstance(error)) return error;
  const { status } = (error ?? {}) as { status?: unknown };
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new HelixError('validation_error', 'The request cannot be read.', { cause: error });
  }
  return new HelixError('internal_error', 'Something went wrong on our side.', { cause: error });
}

/** Bodies up to this size are read to their end, so that the connection can be reused. */
const SMALL_BYTES = 64 * 1024;
/** Bounds of reading on in a larger body after a refusal, which senders notice late. */
const READ_ON_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;
/** `Retry-After`, s. */
const RETRY_SECONDS = '1';

export type SendRefusal = (request: Request, response: Response, refusal: HelixError) => void;

/** Shape of refusals under a path that serves another protocol. */
export interface ProblemShape {
  /** Beginning of the paths, such as `/v1/`. */
  below: string;
  toBody: (refusal: HelixError) => object;
  toHeaders?: (refusal: HelixError) => Readonly<Record<string, string>>;
  /** For the OpenAPI document: the schema of a body with one of these codes. */
  toSchema: (code: z.ZodType<ErrorCode>) => z.ZodType;
}

/** Sends a refusal at once, even if the request's body has not arrived. */
export function sendRefusal(
  request: Request,
  response: Response,
  refusal: HelixError,
  shapes: readonly ProblemShape[] = [],
): void {
  const { statusCode } = refusal;
  // A handler may have named the type of what it could not read then.
  response.status(statusCode).type('json').set('cache-control', 'no-store');
  if (statusCode === 401) response.set('www-authenticate', 'Bearer');
  const isForLater = statusCode === 503 || statusCode === 429;
  if (isForLater && !response.hasHeader('retry-after')) {
    response.set('retry-after', RETRY_SECONDS);
  }
  const shape = shapes.find(({ below }) => request.path.startsWith(below));
  response.set({ ...shape?.toHeaders?.(refusal) });
  const problem = shape?.toBody(refusal) ?? toProblem(refusal);
  if (request.complete || isSmall(request)) response.json(problem);
  else sendAndCut(request, response, JSON.stringify(problem));
}

function isSmall({ headers }: Request): boolean {
  if (headers['transfer-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? 0) <= SMALL_BYTES;
}

/**
 * The reply is complete by its length, but the response ends only when the sender has stopped, or
 * after a time: closing a connection while the sender still sends resets it, and the reply is lost.
 */
function sendAndCut(request: Request, response: Response, text: string): void {
  response.set({
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  });
  response.write(text);
  let read = 0;
  const end = (): void => {
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  response.once('close', () => {
    clearTimeout(timer);
  });
  request.once('end', end);
  request.on('data', (bytes: Buffer) => {
    read += bytes.length;
    if (read > READ_ON_BYTES) request.pause();
  });
}
