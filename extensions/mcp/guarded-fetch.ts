import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { ReadableStream } from 'node:stream/web';
import { guardedLookup, isPermitted, type HostRule } from '../../agents/index.js';
import { LIMITS } from '../../protocol/limits.js';
import { McpError, tooLarge } from './errors.js';
import { isPlain } from './secrets.js';
import type { HttpMcpServer } from './servers.js';

/** A request of which its transport may learn that no answer can come any more. */
export interface InFlight {
  fail: (error: McpError) => void;
  /** Its answer may come on another connection. */
  isResumable: boolean;
  /** Aborted once its caller waits for its answer no more. */
  over: AbortSignal;
}

/** The request on whose behalf something is sent: the SDK's client does not say. */
export const inFlight = new AsyncLocalStorage<InFlight>();

export interface GuardedFetch {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  close: () => void;
}

/** To one server, which could use up those of the process by what it asks. */
const MOST_SOCKETS = 100;
const BODILESS = new Set([204, 205, 304]);

/**
 * Requests to a server of tools, and to where it sends a client for signing in. Addresses are checked
 * as they are connected to, redirects to another origin are refused, answers are bounded, and the
 * author's headers go to the server's own origin only.
 *
 * @param onHeader called with each value of such a header
 */
export function createGuardedFetch(
  server: HttpMcpServer,
  onHeader: (value: string) => void,
): GuardedFetch {
  const own = new URL(server.url);
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
  };

  function ruleOf(url: URL): HostRule {
    const isAllowed = server.allowedHosts?.includes(url.host) === true;
    const isOwn = url.host === own.host;
    return {
      isNamed: isOwn || isAllowed,
      isPrivate: isAllowed || (isOwn && server.privateNetwork === true),
    };
  }

  async function headersOf(url: URL, init: RequestInit): Promise<Record<string, string>> {
    const headers = new Headers(init.headers);
    if (url.origin !== own.origin) return Object.fromEntries(headers);
    const authorization = headers.get('authorization');
    if (authorization !== null) onHeader(authorization);
    const given = typeof server.headers === 'function' ? await server.headers() : server.headers;
    for (const [name, value] of Object.entries(given ?? {})) {
      if (!isPlain(name)) onHeader(value);
      headers.set(name, value);
    }
    return Object.fromEntries(headers);
  }

  return {
    fetch: async (to, init = {}) => {
      const url = new URL(to);
      const { protocol } = url;
      if (protocol !== 'http:' && protocol !== 'https:') throw refusedAddress();
      // A stream of events beside the answers: none of them is of use, since the tools are pinned.
      if (isIdleStream(url, own, init)) return new Response(null, { status: 405 });
      const rule = ruleOf(url);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isPermitted(host, host, rule)) throw refusedAddress();
      const flight = isMessage(url, own, init) ? inFlight.getStore() : undefined;
      const answer = await send(url, init, flight?.over, {
        method: init.method ?? 'GET',
        headers: await headersOf(url, init),
        lookup: guardedLookup(rule, refusedAddress) as never,
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
      // A refusal may be followed by signing in and another attempt.
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

/** Not what is sent for signing in, which may lead to the same origin. */
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
    const sent = request(url, options, (answer) => {
      answer.on('end', release);
      resolve(answer);
    });
    const abort = (): void => {
      sent.destroy(signal.reason as Error);
    };
    const release = (): void => {
      signal.removeEventListener('abort', abort);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    sent.on('close', release);
    sent.on('error', reject);
    // What the SDK sends is text.
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
    // Also of an answer that was never read: its connection is free again.
    cancel: () => {
      answer.destroy();
    },
  });
}

/** An answer that ends, breaks off or is too large is the last that its request hears. */
async function* readBounded(
  answer: http.IncomingMessage,
  request: InFlight | undefined,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > LIMITS.mcpMessageBytes) throw tooLarge();
      // Of its own memory: a stream of bytes takes the buffer that it is given.
      yield new Uint8Array(chunk);
    }
  } catch (error) {
    if (request?.over.aborted === true) return;
    const failure = error instanceof McpError ? error : broken(error);
    if (failure !== error && request?.isResumable === true) throw error;
    request?.fail(failure);
    throw failure;
  }
  // What came last is read first.
  setImmediate(() => {
    if (request?.isResumable === false) request.fail(broken());
  });
}

function refusedAddress(): McpError {
  return new McpError('mcp_address_refused', 'Its address must not be connected to.');
}

function broken(cause?: unknown): McpError {
  return new McpError('mcp_connection_lost', 'The connection was lost.', cause);
}
