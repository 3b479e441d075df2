import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';

/** Methods that change nothing; CORS decides what other sites may read. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Guards against CSRF: refuses cross-site requests that ride on the visitor's cookies or network
 * position. A request with a token is not one: only a page that CORS allows can make a browser send
 * that header.
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

/** Decided by the headers that browsers set; other programs do not send them. */
function isCrossSite(request: Request, allowed: ReadonlySet<string>): boolean {
  const origin = request.get('origin');
  if (origin !== undefined && allowed.has(origin)) return false;
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== request.host;
}
