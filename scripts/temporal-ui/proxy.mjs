// Guards the Temporal UI, which itself serves every request whatever its Host and Origin.
import { createServer, request as ask } from 'node:http';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream';

/** Hop-by-hop headers (RFC 9110, 7.6.1). */
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
 * Creates an HTTP server that forwards permitted requests to the UI at `upstream` and answers others with
 * 403. `names` are this server's host names besides `localhost`. The caller makes it listen.
 */
export function createUiProxy({ upstream, names = [] }) {
  return createServer((request, response) => {
    const reason = refuseForeign(request, names);
    if (reason !== undefined) {
      // The rest of an unread body must not be parsed as a request.
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

// Refuses requests to the Temporal UI that a page of another site could have made.

const READS = new Set(['GET', 'HEAD']);

/**
 * Returns the reason of a refusal; undefined if the request may pass. `names` are the UI's host names besides
 * `localhost` and addresses.
 *
 * The host name guards against DNS rebinding, which makes a foreign page's host name point here; an address
 * cannot be rebound. The origin and the fetch metadata guard against cross-site requests.
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

/** A TLS proxy makes the page's origin https while the request here is http. */
function isOriginOf(host, origin) {
  return [`http://${host}`, `https://${host}`].includes(origin);
}

/** Any page may link here, as the chat page does: following a link only shows the UI's own page. */
function isLink(method, headers) {
  return (
    READS.has(method) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}
