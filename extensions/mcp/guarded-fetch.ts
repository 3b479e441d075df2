import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import https from 'node:https';
import { ReadableStream } from 'node:stream/web';
import { guardedLookup, isPermittedUrl, type HostRule } from '../../agents/index.js';
import { LIMITS } from '../../protocol/limits.js';
import { McpError, tooLarge } from './errors.js';
import { isPlain } from './secrets.js';
import type { HttpMcpServer } from './servers.js';

/** A request in flight, which its transport fails when no answer can arrive any more. */
export interface InFlight {
  fail: (error: McpError) => void;
  /** True if the answer may arrive on another connection. */
  isResumable: boolean;
  /** Aborts once the caller stops waiting for the answer. */
  over: AbortSignal;
}

/** The request that the current fetch belongs to; the SDK's client does not pass it. */
export const inFlight = new AsyncLocalStorage<InFlight>();

export interface GuardedFetch {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  close: () => void;
}

/** Sockets to one server, which could otherwise use up all sockets of the process. */
const MAX_SOCKETS = 100;
const BODILESS = new Set([204, 205, 304]);

/**
 * Creates a fetch for requests to an MCP server and its authorization servers. It checks addresses on
 * connecting, refuses redirects to other origins, bounds answers, and sends the author's headers only
 * to the server's own origin.
 *
 * @param onHeader called with each value of such a header
 */
export function createGuardedFetch(
  server: HttpMcpServer,
  onHeader: (value: string) => void,
): GuardedFetch {
  const own = new URL(server.url);
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
  };

  function ruleOf(url: URL): HostRule {
    const isAllowed = server.allowedHosts?.includes(url.host) === true;
    const isOwn = url.host === own.host;
    return {
      isNamed: isOwn || isAllowed,
      isPrivate: isAllowed || server.privateNetwork === true,
    };
  }

  async function headersOf(url: URL, init: RequestInit): Promise<Record<string, string>> {
    const headers = new Headers(init.headers);
    if (url.origin !== own.origin) return Object.fromEntries(headers);
    const authorization = headers.get('authorization');
    if (authorization !== null) onHeader(authorization);
    try {
      const given = typeof server.headers === 'function' ? await server.headers() : server.headers;
      for (const [name, value] of Object.entries(given ?? {})) {
        if (!isPlain(name)) onHeader(value);
        headers.set(name, value);
      }
    } catch (cause) {
      // Nothing is sent if the author's function fails or returns what no header may be.
      throw broken(cause, true);
    }
    return Object.fromEntries(headers);
  }

  return {
    fetch: async (to, init = {}) => {
      const url = new URL(to);
      const { protocol } = url;
      if (protocol !== 'http:' && protocol !== 'https:') throw refusedAddress();
      // The SDK opens a stream for server events. Tools are pinned, so no event is of use.
      if (isIdleStream(url, own, init)) return new Response(null, { status: 405 });
      const rule = ruleOf(url);
      if (!isPermittedUrl(url, rule)) throw refusedAddress();
      const flight = isMessage(url, own, init) ? inFlight.getStore() : undefined;
      const answer = await send(url, init, flight?.over, {
        method: init.method ?? 'GET',
        headers: await headersOf(url, init),
        lookup: guardedLookup(rule, refusedAddress),
        agent: agents[protocol],
      });
      const status = answer.statusCode ?? 500;
      const { location } = answer.headers;
      if (status >= 300 && status < 400 && location !== undefined) {
        if (!URL.canParse(location, url) || new URL(location, url).origin !== url.origin) {
          answer.destroy();
          throw refusedAddress();
        }
      }
      const headers = new Headers();
      for (const [name, value] of Object.entries(answer.headersDistinct)) {
        for (const each of value ?? []) headers.append(name, each);
      }
      // After a refusal the SDK may sign in and try again.
      const request = status >= 200 && status < 300 ? flight : undefined;
      const body = BODILESS.has(status) ? null : toBody(answer, request);
      if (body === null) answer.resume();
      return new Response(body as never, { status, headers });
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function isIdleStream(url: URL, own: URL, init: RequestInit): boolean {
  if ((init.method ?? 'GET') !== 'GET' || url.href !== own.href) return false;
  return !new Headers(init.headers).has('last-event-id');
}

/** Returns true for protocol messages, not for sign-in requests to the same origin. */
function isMessage(url: URL, own: URL, init: RequestInit): boolean {
  if (url.origin !== own.origin) return false;
  return new Headers(init.headers).get('accept')?.includes('text/event-stream') === true;
}

function send(
  url: URL,
  init: RequestInit,
  over: AbortSignal | undefined,
  options: http.RequestOptions,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const signal = AbortSignal.any([init.signal, over].filter((each) => each != null));
    let underWay: http.ClientRequest | http.IncomingMessage;
    const sent = request(url, options, (answer) => {
      underWay = answer;
      answer.on('end', release);
      resolve(answer);
    });
    underWay = sent;
    const abort = (): void => {
      // An answer handles the error; the request of an answer that has arrived would throw it in this process.
      underWay.destroy(signal.reason as Error);
    };
    const release = (): void => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    sent.on('close', release);
    sent.on('error', reject);
    // The SDK sends only text.
    sent.end(init.body instanceof URLSearchParams ? init.body.toString() : init.body);
  });
}

function toBody(answer: http.IncomingMessage, request: InFlight | undefined): ReadableStream {
  const chunks = readBounded(answer, request);
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    // Frees the connection of an answer that was never read.
    cancel: () => {
      answer.destroy();
    },
  });
}

/**
 * Reads a bounded answer. Its end or a lost connection fails a request that cannot be resumed; an answer that is too
 * large fails any request.
 */
async function* readBounded(
  answer: http.IncomingMessage,
  request: InFlight | undefined,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > LIMITS.mcpMessageBytes) throw tooLarge();
      // Copied, because a byte stream takes ownership of the buffer.
      yield new Uint8Array(chunk);
    }
  } catch (error) {
    if (request?.over.aborted === true) return;
    const failure = error instanceof McpError ? error : broken(error);
    if (failure !== error && request?.isResumable === true) throw error;
    request?.fail(failure);
    throw failure;
  }
  // The reader gets the last chunk first.
  setImmediate(() => {
    if (request?.isResumable === false) request.fail(broken());
  });
}

function refusedAddress(): McpError {
  return new McpError('mcp_address_refused', 'Its address must not be connected to.');
}

function broken(cause?: unknown, isUnsent = false): McpError {
  const lost = new McpError('mcp_connection_lost', 'The connection was lost.', cause);
  return Object.assign(lost, { isUnsent });
}
