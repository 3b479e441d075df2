// The door to the Temporal UI, which itself serves every request whatever its Host and Origin.
import { createServer, request as ask } from 'node:http';
import { pipeline } from 'node:stream';
import { refuseForeign } from './refuse-foreign.mjs';

/** They speak of one connection (RFC 9110, 7.6.1), and this proxy has two. */
const OF_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
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
