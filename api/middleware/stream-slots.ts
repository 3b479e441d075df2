import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';

/** When a refused reader may try again, s: streams end when somebody leaves. */
const RETRY_SECONDS = 5;

/**
 * Refuses requests that may become streams when one sender has too many of them open in this
 * process. A slot is taken before anything is decided, so that a refusal begins no run, and given
 * back with the end of the response, whatever ends it.
 */
export function createStreamSlots(
  limit: number,
  keyOf: (request: Request) => Promise<string>,
): RequestHandler {
  const open = new Map<string, number>();
  return async (request, response, next) => {
    const key = await keyOf(request);
    const count = open.get(key) ?? 0;
    if (count >= limit) {
      response.set('retry-after', String(RETRY_SECONDS));
      throw new HelixError('too_many_streams', 'Too many open streams; close some.');
    }
    // Who has left before this will not be heard to leave.
    if (response.destroyed) return;
    open.set(key, count + 1);
    response.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    });
    next();
  };
}
