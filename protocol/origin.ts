/** Returns true for scheme, host and port only, in the form that browsers use. */
export function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

export interface SentRequest {
  method: string;
  /** True if the request changes something although its method only reads. */
  leavesTrace?: boolean;
  /** The name by which the sender reached this server, with its port. */
  host: string;
  header: (name: string) => string | null | undefined;
}

/** Methods that change nothing; CORS decides what other sites may read. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const BEARER = /^Bearer +\S/i;
/** Body types that a page may send to any site without a CORS preflight. */
const UNASKED = new Set(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']);

/**
 * Returns true for a request with which another site's page would use credentials that the
 * visitor's browser attaches unasked: cookies, Basic and Negotiate sign-in, client certificates, a
 * place in the network. The headers that browsers set decide; other programs do not send them.
 *
 * A `Bearer` token frees a request, since no browser attaches one unasked, unless the browser
 * reports another site's page or the body needs no preflight.
 */
export function isForged(request: SentRequest, allowedOrigins: ReadonlySet<string>): boolean {
  const { method, leavesTrace = !READS.has(method), header } = request;
  if (!leavesTrace || !isForeign(request, allowedOrigins)) return false;
  const type = header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return (
    !BEARER.test(header('authorization') ?? '') ||
    header('sec-fetch-site') === 'cross-site' ||
    UNASKED.has(type)
  );
}

/** True if a page of another origin, which is not listed, sent the request. */
function isForeign({ host, header }: SentRequest, allowedOrigins: ReadonlySet<string>): boolean {
  const origin = header('origin') ?? undefined;
  if (origin !== undefined && allowedOrigins.has(origin)) return false;
  const site = header('sec-fetch-site') ?? undefined;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/**
 * Returns true for a request that a host of `handleChatStream` must refuse if its sign-in may be a
 * cookie: another site's page sent it, see `isForged`.
 *
 * @param allowedOrigins other origins whose pages may act here
 * @example
 * import { isForgedRequest } from 'helix-temporal/ai-sdk';
 *
 * export function refuseForged(request: Request): Response | undefined {
 *   return isForgedRequest(request) ? new Response(null, { status: 403 }) : undefined;
 * }
 */
export function isForgedRequest(
  { method, url, headers }: Pick<Request, 'method' | 'url' | 'headers'>,
  allowedOrigins: readonly string[] = [],
): boolean {
  const host = headers.get('host') ?? new URL(url).host;
  const header = (name: string): string | null => headers.get(name);
  return isForged({ method, host, header }, new Set(allowedOrigins));
}
