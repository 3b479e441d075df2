import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import type { SendRefusal } from './send-refusal.js';

/**
 * Refuses a body as soon as it says that it is too large, or turns out to be. The JSON parser limits
 * what it takes as well, but reads a body to its end before it says so.
 */
export function createBodyLimit(limit: number, sendRefusal: SendRefusal): RequestHandler {
  const refusal = new HelixError('body_too_large', 'The request body is too large.');
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) throw refusal;
    let received = 0;
    request.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (received > limit && !response.headersSent) sendRefusal(request, response, refusal);
    });
    next();
  };
}
