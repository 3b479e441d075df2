import cors from 'cors';
import type { RequestHandler } from 'express';
import { isOrigin } from '../../protocol/origin.js';
import { SHOULD_RETRY } from '../openai/problem.js';
import { HEADERS } from '../../protocol/http.js';

/** Headers that the client of OpenAI adds to each request in a browser; none of them is needed. */
const OPENAI_HEADERS = [
  'user-agent',
  'openai-organization',
  'openai-project',
  ...['arch', 'custom-poll-interval', 'helper-method', 'lang', 'os', 'package-version'].map(named),
  ...['poll-helper', 'retry-count', 'runtime', 'runtime-version', 'timeout'].map(named),
];

function named(name: string): string {
  return `x-stainless-${name}`;
}

/** How long a browser caches a preflight, s. */
const PREFLIGHT_SECONDS = 600;

export interface CrossOriginOptions {
  /** Origins, like `https://app.example.com`, whose pages may use this API. Default: only its own. */
  allowedOrigins?: readonly string[] | undefined;
  /** Their requests may carry cookies. Default: false. */
  allowCredentials?: boolean | undefined;
}

/**
 * CORS for the listed origins; undefined if the list is empty.
 *
 * @throws Error for an entry that is not an origin: a path would never match, `*` would match all
 */
export function createCrossOrigin(options: CrossOriginOptions): RequestHandler | undefined {
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
    allowedHeaders: ['authorization', 'content-type', ...Object.values(asked), ...OPENAI_HEADERS],
    exposedHeaders: [
      sessionId,
      runId,
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
      SHOULD_RETRY,
    ],
    maxAge: PREFLIGHT_SECONDS,
  });
}
