// The door to the Temporal UI, which itself serves every request whatever its Host and Origin.
import { createServer, request as ask } from 'node:http';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream';

/** They speak of one connection (RFC 9110, 7.6.1), and this proxy has two. */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * An HTTP server that forwards permitted requests to the UI at `upstream`, and answers all others
 * with 403. `names` are host names of this server besides `localhost`. The caller lets it listen.
 */
export function createUiProxy({ upstream, names = [] }) {
  return createServer((request, response) => {
    const reason = refuseForeign(request, names);
    if (reason !== undefined) {
      // What an unread body leaves on the connection must not be taken for a request.
      answer(response, 403, reason, { connection: 'close' });
      return;
    }
    const { method, url: path } = request;
    const { host, port } = upstream;
    const headers = { ...endToEnd(request.headers), host: `${host}:${port}` };
    const forwarded = ask({ host, port, method, path, headers });
    forwarded.once('response', (reply) => {
      response.writeHead(reply.statusCode, endToEnd(reply.headers));
      pipeline(reply, response, () => {});
    });
    forwarded.once('error', () => {
      if (response.headersSent) response.destroy();
      else answer(response, 502, 'The Temporal UI does not answer.');
    });
    response.once('close', () => forwarded.destroy());
    pipeline(request, forwarded, () => {});
  });
}

function answer(response, status, text, headers = {}) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(`${text}\n`);
}

function endToEnd(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name)));
}

// Whether a request to the Temporal UI may be one that a page of another site made.

const READS = new Set(['GET', 'HEAD']);

/**
 * Why this request is refused; undefined if it may pass. `names` are the host names that the UI
 * has besides `localhost` and addresses.
 *
 * The name guards against DNS rebinding: a page's own host name may be made to point here, and the
 * browser then takes the UI for a part of that page. An address cannot be made to point elsewhere.
 * The origin and the fetch metadata guard against requests across sites.
 */
function refuseForeign({ method, headers, rawHeaders }, names = []) {
  const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length !== 1 || !isOwnName(headers.host, names)) return 'This server has no such name.';
  const { origin } = headers;
  if (origin !== undefined && !isOriginOf(headers.host, origin)) {
    return 'Pages of other origins may not use this server.';
  }
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwn && !isLink(method, headers))
    return 'Pages of other sites may only link to this server.';
  return undefined;
}

function isOwnName(host, names) {
  const url = `http://${host}`;
  if (!URL.canParse(url)) return false;
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return name === 'localhost' || isIP(name) !== 0 || names.includes(name);
}

/** Behind a proxy with TLS the page is of https, and the request that comes here is not. */
function isOriginOf(host, origin) {
  return [`http://${host}`, `https://${host}`].includes(origin);
}

/** The chat page links to runs, and so may any other page: following a link only shows the UI's own page. */
function isLink(method, headers) {
  return (
    READS.has(method) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}
