import { randomUUID } from 'node:crypto';
import { CliFailure, EXIT, wrongUsage } from '../failure.js';
import { toRefusal, toUnreachable } from './refusals.js';

type Query = Record<string, string | number | boolean | undefined>;

export interface CallOptions {
  query?: Query;
  body?: object;
  signal?: AbortSignal;
  /** Idempotency key: the server performs the act once, however often the request is sent. */
  key?: string;
}

/** An id or a name of the command line that would lead to another resource. */
const NO_SEGMENT = /\/\.{0,2}(?=\/|$)/;

/** The HTTP API for commands. @throws CliFailure from every method */
export interface ApiClient {
  readonly url: string;
  get: <T>(path: string, options?: Pick<CallOptions, 'query' | 'signal'>) => Promise<T>;
  post: <T>(path: string, body?: object) => Promise<T>;
  delete: <T>(path: string, options?: Pick<CallOptions, 'query'>) => Promise<T>;
  /** Yields the lines of a download as they arrive. */
  lines: (path: string, options?: Pick<CallOptions, 'query'>) => AsyncGenerator<string, void>;
}

export interface ClientOptions {
  /** The server's URL without a trailing slash. */
  url: string;
  token: string | undefined;
  /** The channel that the server records with each act. */
  via: 'cli' | 'mcp';
  onWait?: (ms: number) => void;
  /** Idempotency key of all acts, for repeating a command. Default: a new key for each act. */
  idempotencyKey?: string | undefined;
  /** The tenant to act on, if the token allows a choice. */
  tenant?: string | undefined;
}

const REPLY_MS = 30_000;
const MAX_TRIES = 5;
const MAX_WAIT_MS = 60_000;

export function createApiClient(options: ClientOptions): ApiClient {
  const { url, token, via, onWait, tenant, idempotencyKey } = options;
  const newKey = (): string => idempotencyKey ?? randomUUID();
  const headers = new Headers({ accept: 'application/json', 'x-helix-via': via });
  if (tenant !== undefined) headers.set('x-helix-tenant', encodeURIComponent(tenant));
  if (token !== undefined) setHeader(headers, 'authorization', `Bearer ${token}`, 'HELIX_TOKEN');

  async function send(method: string, path: string, call: CallOptions = {}): Promise<Response> {
    const { query = {}, body, signal } = call;
    if (NO_SEGMENT.test(path)) throw wrongUsage('An id or a name is neither empty nor only dots.');
    const address = new URL(url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    const sent = new Headers(headers);
    if (call.key !== undefined) {
      setHeader(sent, 'idempotency-key', call.key, '--idempotency-key');
    }
    if (body !== undefined) sent.set('content-type', 'application/json');
    // The limit ends with the headers: a long reply may take its time.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('', 'TimeoutError')), REPLY_MS);
    try {
      return await fetch(address, {
        method,
        headers: sent,
        body: body === undefined ? null : JSON.stringify(body),
        // A redirect leads to a sign-in page, which must not get the token.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
    } catch (error) {
      throw signal?.aborted === true ? error : toUnreachable(url, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits and retries when rate-limited: limits count requests per minute, and a command may act on many runs. */
  async function ask(method: string, path: string, call?: CallOptions): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const response = await send(method, path, call);
      if (response.ok) return response;
      const waitMs = Number(response.headers.get('retry-after')) * 1_000;
      const mayRepeat = response.status === 429 && waitMs > 0 && waitMs <= MAX_WAIT_MS;
      if (!mayRepeat || tries === MAX_TRIES) {
        throw await toRefusal(response, { url, isSignedIn: token !== undefined });
      }
      await response.body?.cancel();
      onWait?.(waitMs);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  async function json<T>(method: string, path: string, call?: CallOptions): Promise<T> {
    const response = await ask(method, path, call);
    const text = await response.text().catch((error: unknown) => {
      // The server has exited in the middle of the body, or the reply took too long.
      throw call?.signal?.aborted === true ? error : toUnreachable(url, error);
    });
    if (response.status === 204) return {} as T;
    const reply = parseObject(text);
    if (reply === undefined) throw notTheApi();
    return reply as T;
  }

  const notTheApi = (): CliFailure => {
    const message = `${url} did not answer with JSON: is it the address of a helix-temporal API?`;
    return new CliFailure(message, EXIT.unavailable);
  };

  return {
    url,
    get: (path, call) => json('GET', path, call),
    post: (path, body) => json('POST', path, { body: body ?? {}, key: newKey() }),
    delete: (path, call) => json('DELETE', path, { ...call, key: newKey() }),
    lines: async function* (path, call) {
      const response = await ask('GET', path, call);
      // A page of a proxy must not pass for an export.
      if (response.headers.get('content-type')?.includes('ndjson') !== true) {
        await response.body?.cancel();
        throw notTheApi();
      }
      let rest = '';
      try {
        for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const lines = (rest + text).split('\n');
          rest = lines.pop() ?? '';
          yield* lines;
        }
      } catch (error) {
        throw toUnreachable(url, error);
      }
      if (rest !== '') yield rest;
    },
  };
}

/** Returns undefined for what no reply of the API is: text, a list, or an object without members. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.keys(value).length === 0 ? undefined : value;
  } catch {
    return undefined;
  }
}

/** @throws CliFailure if no header can carry the value */
function setHeader(headers: Headers, name: string, value: string, setting: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw wrongUsage(`${setting} has a character that no header can carry.`);
  }
}
