import type { ErrorRequestHandler, RequestHandler } from 'express';
import { HelixError } from '../protocol/errors.js';
import { NOT_UTF8, TOO_DEEP } from './edge/json-body.js';
import type { SendRefusal } from './edge/send-refusal.js';

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

/** What is wrong with a body, by the parser's name for it. */
const BODY_REFUSALS: Record<string, string | undefined> = {
  'entity.parse.failed': 'The request body is not JSON.',
  [TOO_DEEP]: 'The request body is nested too deeply.',
};

/** Any error as a refusal. Body-parser errors carry a status and a type. */
function toRefusal(error: unknown): HelixError {
  if (HelixError.isInstance(error)) return error;
  const { status, type } = toFields(error);
  if (type === 'entity.too.large') {
    return new HelixError('body_too_large', 'The request body is too large.', { cause: error });
  }
  const text = typeof type === 'string' ? BODY_REFUSALS[type] : undefined;
  if (text !== undefined) return new HelixError('validation_error', text, { cause: error });
  if (status === 415 || type === NOT_UTF8) {
    const said = 'The request body has an encoding that is not read.';
    return new HelixError('unsupported_media_type', said, { cause: error });
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new HelixError('validation_error', 'The request cannot be read.', { cause: error });
  }
  return new HelixError('internal_error', 'Something went wrong on our side.', { cause: error });
}

function toFields(error: unknown): { status?: unknown; type?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
