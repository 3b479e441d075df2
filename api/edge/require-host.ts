import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';

/** HTTP/1.1 asks for a host; Node would refuse a request without one with an empty reply. */
export const requireHost: RequestHandler = (request, _response, next) => {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    throw new HelixError('validation_error', 'The request names no host.');
  }
  next();
};
