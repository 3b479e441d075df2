import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';

/** Methods that change nothing; what other sites read is the browser's and CORS's business. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests by which another site acts through a visitor's browser, that is with the
 * visitor's cookies, or with his place in the network. A request that brings its own token is none:
 * only a page that CORS lets in can make a browser send one.
 */
export function createCsrfGuard(allowedOrigins: readonly string[]): RequestHandler {
  const allowed = new Set(allowedOrigins);
  return (request, _response, next) => {
    const isSafe = READS.has(request.method) || request.get('authorization') !== undefined;
    if (!isSafe && isCrossSite(request, allowed)) {
      throw new HelixError('unauthorized', 'Requests from other sites must bring a token.');
    }
    next();
  };
}

/** By what the browser says of the page; programs say nothing. */
function isCrossSite(request: Request, allowed: ReadonlySet<string>): boolean {
  const origin = request.get('origin');
  if (origin !== undefined && allowed.has(origin)) return false;
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== request.host;
}
