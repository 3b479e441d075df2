import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';

/**
 * HTTP/1.1 requires exactly one host. Node would refuse a request without one with an empty reply,
 * and takes the first of two, where a proxy in front may have checked the other.
 */
export const requireHost: RequestHandler = (request, _response, next) => {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    throw new HelixError('validation_error', 'The request names no host.');
  }
  if ((request.headersDistinct.host?.length ?? 0) > 1) {
    throw new HelixError('validation_error', 'The request names two hosts.');
  }
  next();
};

/**
 * Guards against DNS rebinding: refuses requests to public DNS names other than the given ones. Any
 * site can point its own name to this machine; for the browser its page is then of this origin.
 */
export function createDnsRebindingGuard(names: readonly string[]): RequestHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (request, _response, next) => {
    const url = `http://${request.headers.host ?? ''}`;
    const name = URL.canParse(url) ? new URL(url).hostname : '';
    const isPublic = name.includes('.') && isIP(name) === 0 && !/\.localhost\.?$/.test(name);
    if (isPublic && !known.has(name)) {
      throw new HelixError('unauthorized', 'Without accounts, this server has no such name.');
    }
    next();
  };
}
