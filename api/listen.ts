import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { StartupError } from '../config/startup.js';
import type { Duplex } from 'node:stream';
import type { ProblemBody } from '../protocol/replies.js';

export interface Listening {
  port: number;
  /**
   * Stops accepting, replies to the requests that have arrived, and cuts streams: readers of a
   * running turn reconnect elsewhere.
   */
  close: () => Promise<void>;
}

/** Time for a request to arrive, ms: 16 MB over a slow line. Replies have no limit. */
const REQUEST_MS = 120_000;
const HEADERS_MS = 20_000;
/** Longer than the usual 60 s of load balancers: they must be the side that closes idle connections. */
const IDLE_MS = 65_000;
/** Connections at once; each takes memory before its caller is known. */
const CONNECTIONS = 10_000;

const RETRY_MS = 10;
/** A closing server has this long for its last replies, ms. */
const LAST_REPLIES_MS = 1_000;

/**
 * @param waitMs time to wait for a port that is in use
 * @throws StartupError if the port is in use, or the address cannot be used
 */
export async function listen(
  app: Express,
  port: number,
  host: string,
  waitMs = 0,
): Promise<Listening> {
  const giveUpAt = Date.now() + waitMs;
  const timeouts = {
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    keepAliveTimeout: IDLE_MS,
  };
  // Node would refuse a request without a host with an empty reply; the app replies with a problem.
  const server = createServer({ ...timeouts, requireHostHeader: false }, app);
  server.maxConnections = CONNECTIONS;
  server.on('checkExpectation', app);
  server.on('clientError', answerMalformedRequest);
  const open = new Set<ServerResponse>();
  server.prependListener('request', (_request, response: ServerResponse) => {
    open.add(response);
    // The parts of the API that follow a download to its end are more than the ten of which Node warns.
    response.setMaxListeners(20);
    response.once('close', () => open.delete(response));
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' && Date.now() < giveUpAt) {
        setTimeout(() => server.listen(port, host), RETRY_MS);
        return;
      }
      reject(new StartupError(`Cannot listen on ${host}:${String(port)}: ${toReason(error)}.`));
    });
    server.once('listening', resolve);
    server.listen(port, host);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => close(server, open),
  };
}

function toReason(error: NodeJS.ErrnoException): string {
  return error.code === 'EADDRINUSE' ? 'the port is in use' : (error.code ?? error.message);
}

function close(server: Server, open: Iterable<ServerResponse>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections();
    }, LAST_REPLIES_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    for (const response of open) {
      if (!response.headersSent) response.setHeader('connection', 'close');
      else if (isEventStream(response)) response.destroy();
      // The headers that were sent already told the client to keep the connection.
      else response.once('close', () => server.closeIdleConnections());
    }
  });
}

/** Readers of events reconnect; a part of any other reply is useless to its client. */
function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

/** Replies by Node's error code; other errors get 400. */
const STATUS: Record<string, [line: string, error: string] | undefined> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long.'],
};

/** Answers bytes that are not HTTP with an ordinary problem body, and closes the socket. */
function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [line, text] = STATUS[error.code ?? ''] ?? [
    '400 Bad Request',
    'This is not an HTTP request.',
  ];
  const problem: ProblemBody = { error: text, code: 'validation_error' };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${line}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${String(Buffer.byteLength(body))}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
