import type { ErrorRequestHandler, RequestHandler } from 'express';
import { toProblem } from '../ai-sdk/index.js';
import { HelixError } from '../protocol/errors.js';

/** The part of a logger that the API uses. */
export interface ApiLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
}

/** Answers what no route has answered. */
export const refuseUnknown: RequestHandler = (request, response) => {
  const error = new HelixError('not_found', `There is no ${request.method} ${request.path}.`);
  response.status(error.statusCode).json(toProblem(error));
};

/** The one place where errors become replies: typed refusals as they are, all else without internals. */
export function createErrorResponder(logger: ApiLogger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const refusal = toRefusal(error);
    if (refusal.statusCode >= 500) {
      const fields = { err: refusal.cause ?? error, method: request.method, path: request.path };
      logger.error(fields, refusal.message);
    }
    if (response.headersSent) {
      // Too late for a status: a broken reply must not look finished.
      response.destroy();
      next();
      return;
    }
    response.status(refusal.statusCode).json(toProblem(refusal));
  };
}

/** Any error as a refusal. Body-parser errors carry a status and a type. */
function toRefusal(error: unknown): HelixError {
  if (HelixError.isInstance(error)) return error;
  const { status, type } = toFields(error);
  if (type === 'entity.too.large') {
    return new HelixError('body_too_large', 'The request body is too large.', { cause: error });
  }
  if (type === 'entity.parse.failed') {
    return new HelixError('validation_error', 'The request body is not JSON.', { cause: error });
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new HelixError('validation_error', 'The request cannot be read.', { cause: error });
  }
  return new HelixError('internal_error', 'Something went wrong on our side.', { cause: error });
}

function toFields(error: unknown): { status?: unknown; type?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
