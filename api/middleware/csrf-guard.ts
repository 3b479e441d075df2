import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { isForged } from '../../protocol/origin.js';

/**
 * Guards against CSRF: refuses what pages of other sites would do with the visitor's own means.
 *
 * @param of `leavesTrace` for a route whose reads are recorded in the visitor's name
 */
export function createCsrfGuard(
  allowedOrigins: readonly string[],
  of: { leavesTrace?: true } = {},
): RequestHandler {
  const allowed = new Set(allowedOrigins);
  return (request, _response, next) => {
    const { method, host } = request;
    if (isForged({ method, host, ...of, header: (name) => request.get(name) }, allowed)) {
      throw new HelixError(
        'unauthorized',
        'Pages of other sites may not do this, unless the server lists their origin.',
      );
    }
    next();
  };
}
