import cors from 'cors';
import type { RequestHandler } from 'express';
import { isOrigin } from '../../protocol/origin.js';
import { HEADERS } from '../../protocol/http.js';

/** A browser asks again after this long, s. */
const PREFLIGHT_SECONDS = 600;

export interface CrossOriginOptions {
  /** Origins, like `https://app.example.com`, whose pages may use this API. Default: none but its own. */
  allowedOrigins?: readonly string[] | undefined;
  /** Their requests may carry cookies. Default: false. */
  allowCredentials?: boolean | undefined;
}

/**
 * Lets the pages of other origins in, by a list; undefined if there is none.
 *
 * @throws Error for what is no origin: a path or a `*` would never match, or match everything
 */
export function createCrossOrigin(options: CrossOriginOptions): RequestHandler | undefined {
  const { allowedOrigins = [], allowCredentials = false } = options;
  for (const origin of allowedOrigins) {
    if (!isOrigin(origin)) throw new Error(`allowedOrigins: ${origin} is no origin.`);
  }
  if (allowedOrigins.length === 0) return undefined;
  const { sessionId, runId, ...asked } = HEADERS;
  return cors({
    origin: [...allowedOrigins],
    credentials: allowCredentials,
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', ...Object.values(asked)],
    exposedHeaders: [sessionId, runId, 'retry-after', 'ratelimit', 'ratelimit-policy'],
    maxAge: PREFLIGHT_SECONDS,
  });
}
