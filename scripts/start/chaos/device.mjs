// A device of the chaos bench: the page and the API through a network that can be cut. The API itself
// knows nothing of this; it sees a browser on its own origin.
import { readFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { pipeline } from 'node:stream';
import { refuseForeign } from '../../temporal-ui/refuse-foreign.mjs';

const script = (name) => readFileSync(new URL(`./${name}`, import.meta.url));
/** What the page of a device loads besides, by its path. */
const SCRIPTS = new Map([
  ['/chaos/device.js', script('device-page.js')],
  ['/chaos/count-words.js', script('count-words.js')],
]);
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
/** They would keep the page out of the frames of the bench. */
const OF_FRAMES = new Set([
  'content-security-policy',
  'x-frame-options',
  'cross-origin-opener-policy',
]);
/** What names the origin: the API is another one than this server. */
const OF_ORIGIN = new Set(['host', 'origin', 'referer', 'sec-fetch-site', 'accept-encoding']);

/**
 * The caller lets it listen.
 *
 * @param target address of the API
 * @param bench  address of the page that may show this device in a frame
 * @param serve  answers requests of its own; returns false for others
 */
export function createDevice({ target, bench, serve = () => false }) {
  let isCut = false;
  const server = createServer((request, response) => {
    if (refuseForeign(request) !== undefined) {
      // The frames of the bench are of two ports, so of one site and two origins.
      const isFrame = request.headers['sec-fetch-dest'] === 'iframe' && request.method === 'GET';
      if (!isFrame || request.headers['sec-fetch-site'] !== 'same-site') {
        response.writeHead(403, { connection: 'close' }).end('Not from here.\n');
        return;
      }
    }
    if (serve(request, response)) return;
    if (isCut) request.socket.destroy();
    else if (SCRIPTS.has(request.url)) sendScript(SCRIPTS.get(request.url), response);
    else forward({ target, bench }, request, response);
  });
  return {
    server,
    /** Cuts what is open, and all that comes within this time. */
    cut(ms) {
      isCut = true;
      server.closeAllConnections();
      setTimeout(() => (isCut = false), ms).unref();
    },
  };
}

function sendScript(text, response) {
  response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'no-store' });
  response.end(text);
}

function forward({ target, bench }, request, response) {
  const { method, url: path } = request;
  const headers = without(request.headers, OF_ORIGIN);
  const { hostname: host, port } = new URL(target);
  const forwarded = ask({
    host,
    port,
    method,
    path,
    headers: { ...headers, host: `${host}:${port}` },
  });
  forwarded.once('response', (reply) => {
    const isPage = String(reply.headers['content-type']).startsWith('text/html');
    if (isPage) sendPage(reply, response, bench());
    else {
      response.writeHead(reply.statusCode, without(reply.headers, OF_FRAMES));
      // A reply that the API cuts is cut here, too.
      pipeline(reply, response, (error) => error && response.destroy());
    }
  });
  // An API that is away is a connection that is refused.
  forwarded.once('error', () => response.destroy());
  response.once('close', () => forwarded.destroy());
  pipeline(request, forwarded, () => {});
}

/** The page with a script that reads it for the bench. */
function sendPage(reply, response, bench) {
  const pieces = [];
  reply.on('data', (piece) => pieces.push(piece));
  reply.on('error', () => response.destroy());
  reply.on('end', () => {
    const page = Buffer.concat(pieces)
      .toString()
      .replace('</body>', '<script type="module" src="/chaos/device.js"></script></body>');
    const headers = without(reply.headers, new Set([...OF_FRAMES, 'content-length', 'etag']));
    headers['content-security-policy'] = `frame-ancestors ${bench}`;
    response.writeHead(reply.statusCode, headers).end(page);
  });
}

function without(headers, names) {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.has(name) && !OF_CONNECTION.has(name)),
  );
}
