import cors from 'cors';
import helmet from 'helmet';
import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { isForged, isOrigin } from '../../protocol/http.js';
import { isIP } from 'node:net';
import { HEADERS } from '../../protocol/ids.js';

/**
 * Refuses requests that pages of other sites send with a visitor's credentials (CSRF).
 * `leavesTrace`: reads of the route are recorded in the visitor's name.
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

/** Browsers cache a preflight this long, s. */
const PREFLIGHT_SECONDS = 600;

export interface CrossOriginOptions {
  /** Origins, like `https://app.example.com`, whose pages may use this API. Default: only its own. */
  allowedOrigins?: readonly string[] | undefined;
  /** True if requests from these origins may carry cookies. Default: false. */
  allowCredentials?: boolean | undefined;
}

/** Names of headers in lower case. */
export interface CrossOriginHeaders {
  allowed?: readonly string[];
  exposed?: readonly string[];
}

/**
 * Creates the CORS handler of the listed origins, if any.
 *
 * @throws Error for an entry that is no origin: a path would never match, `*` would match all
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
      'authorization',
      'content-type',
      ...Object.values(asked),
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

/**
 * Creates the handler of security headers. The page loads its own files only. Neither HSTS nor
 * upgrades are set here: the server that terminates TLS decides whether the host is reached by
 * HTTPS only.
 */
export function createSecurityHeaders(): RequestHandler {
  return helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        mediaSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        scriptSrc: ["'self'"],
        scriptSrcAttr: ["'none'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
      },
    },
    frameguard: { action: 'deny' },
  });
}
