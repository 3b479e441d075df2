import cors from 'cors';
import type { RequestHandler } from 'express';
import { isOrigin } from '../../protocol/origin.js';
import { HEADERS } from '../../protocol/http.js';

/** How long a browser caches a preflight, s. */
const PREFLIGHT_SECONDS = 600;

export interface CrossOriginOptions {
  /** Origins, like `https://app.example.com`, whose pages may use this API. Default: only its own. */
  allowedOrigins?: readonly string[] | undefined;
  /** Their requests may carry cookies. Default: false. */
  allowCredentials?: boolean | undefined;
}

/** Names of headers in lower case. */
export interface CrossOriginHeaders {
  allowed?: readonly string[];
  exposed?: readonly string[];
}

/**
 * CORS for the listed origins; undefined if the list is empty.
 *
 * @throws Error for an entry that is not an origin: a path would never match, `*` would match all
 */
export function createCrossOrigin(
  options: CrossOriginOptions,
  others: readonly CrossOriginHeaders[] = [],
): RequestHandler | undefined {
  const { allowedOrigins = [], allowCredentials = false } = options;
  for (const origin of allowedOrigins) {
    if (!isOrigin(origin)) throw new Error(`allowedOrigins: ${origin} is not an origin.`);
  }
  if (allowedOrigins.length === 0) return undefined;
  const { runId, ...asked } = HEADERS;
  const { sessionId } = asked;
  return cors({
    origin: [...allowedOrigins],
    credentials: allowCredentials,
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      ...['authorization', 'content-type', ...Object.values(asked)],
      ...others.flatMap(({ allowed = [] }) => allowed),
    ],
    exposedHeaders: [
      sessionId,
      runId,
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
      ...others.flatMap(({ exposed = [] }) => exposed),
    ],
    maxAge: PREFLIGHT_SECONDS,
  });
}
