import type { Request, RequestHandler } from 'express';
import type { Store } from 'express-rate-limit';
import { LIMITS } from '../../protocol/limits.js';
import type { IdentityOptions } from '../identity.js';
import type { ApiLogger } from './refusals.js';
import { createBodyBudget, type BodyBudget } from './body-budget.js';
import { createRequestRate } from './request-rate.js';
import { createStreamSlots } from './stream-slots.js';

/**
 * How much one sender may ask for, that is one user of one tenant, or one address where there are no
 * accounts. 0 is no limit.
 */
export interface ApiLimits {
  /** Requests in a minute that may change something. Default: 120. */
  requestsPerMinute?: number | undefined;
  /** Streams that are open at once, in each process. Default: 100. */
  openStreams?: number | undefined;
  /** Bytes of bodies that are being read at once, in each process. Default: 64 MB, four of the largest. */
  bodyBytes?: number | undefined;
  /** Counts requests for several processes, see the stores of express-rate-limit. */
  store?: Store | undefined;
}

/** Twice a second, all the time, is no person; a page that posts without end does so eight times. */
const REQUESTS_PER_MINUTE = 120;
const OPEN_STREAMS = 100;
const BODY_BYTES = 4 * LIMITS.bodyBytes;

/** Routes whose replies may be streams. */
export const STREAM_ROUTES = {
  get: [
    '/api/chat/:sessionId',
    '/api/chat/:sessionId/stream',
    '/api/chat/:sessionId/events',
    '/api/agent/sse',
  ],
  post: ['/api/chat', '/api/chat/:sessionId'],
};

interface LimitsOptions extends IdentityOptions {
  limits?: ApiLimits | undefined;
  logger: ApiLogger;
}

/** The limits of an app; where nobody has an account there are none, unless they are asked for. */
export function createLimits(
  { authenticate, limits = {}, logger }: LimitsOptions,
  keyOf: (request: Request) => Promise<string>,
): { requests?: RequestHandler; streams?: RequestHandler; bodies?: BodyBudget } {
  const byDefault = (value: number): number => (authenticate === undefined ? 0 : value);
  const perMinute = limits.requestsPerMinute ?? byDefault(REQUESTS_PER_MINUTE);
  const openStreams = limits.openStreams ?? byDefault(OPEN_STREAMS);
  const bodyBytes = limits.bodyBytes ?? byDefault(BODY_BYTES);
  const { store } = limits;
  const onStoreError = (err: unknown): void => {
    logger.warn({ err }, 'requests cannot be counted');
  };
  return {
    ...(perMinute > 0 && {
      requests: createRequestRate({ perMinute, keyOf, store, onStoreError }),
    }),
    ...(openStreams > 0 && { streams: createStreamSlots(openStreams, keyOf) }),
    ...(bodyBytes > 0 && { bodies: createBodyBudget(bodyBytes, keyOf) }),
  };
}
