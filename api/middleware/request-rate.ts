import type { Request, RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { HelixError } from '../../protocol/errors.js';

const WINDOW_MS = 60_000;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface RequestRateOptions {
  /** Requests in a minute, for each key. */
  perMinute: number;
  keyOf: (request: Request) => Promise<string>;
  /** Where several processes count together; each for itself without it. */
  store?: Store | undefined;
  onStoreError: (error: unknown) => void;
}

/** Refuses requests that change something when one sender sends too many. Reading is free. */
export function createRequestRate(options: RequestRateOptions): RequestHandler {
  const { perMinute, keyOf, store, onStoreError } = options;
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: perMinute,
    keyGenerator: keyOf,
    skip: ({ method }) => READS.has(method),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'requests',
    // A count that cannot be kept must not take the product down with it.
    passOnStoreError: true,
    logger: { error: onStoreError, warn: onStoreError },
    handler: (_request, _response, next) => {
      next(new HelixError('too_many_requests', 'Too many requests; wait a little.'));
    },
    ...(store !== undefined && { store }),
  });
}
