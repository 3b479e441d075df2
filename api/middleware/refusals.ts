import type { ErrorRequestHandler, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import type { SendRefusal } from './send-refusal.js';

/** The part of a logger that the API uses. */
export interface ApiLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
}

/** Answers what no route has answered. */
export const refuseUnknown: RequestHandler = (request) => {
  throw new HelixError('not_found', `There is no ${request.method} ${request.path}.`);
};

/** The one place where errors become replies: typed refusals as they are, all else without internals. */
export function createErrorResponder(
  logger: ApiLogger,
  sendRefusal: SendRefusal,
): ErrorRequestHandler {
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
    sendRefusal(request, response, refusal);
  };
}

/** Any error as a refusal; what Express throws for a path that it cannot read carries a status. */
function toRefusal(error: unknown): HelixError {
  if (HelixError.isInstance(error)) return error;
  const { status } = toFields(error);
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new HelixError('validation_error', 'The request cannot be read.', { cause: error });
  }
  return new HelixError('internal_error', 'Something went wrong on our side.', { cause: error });
}

function toFields(error: unknown): { status?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
