import { HEADERS } from '../../protocol/ids.js';
import type { FrontendSnapshot, UIMessage } from '../parts/ui-message.js';
import type { ChatMessage } from './chat-message.js';
import { ChatRequestError, noneIfMissing } from './errors.js';
import type {
  ChatRequestOptions,
  ReconnectOptions,
  SendMessagesOptions,
} from './chat-transport.js';
import type { ChatSendRequest, ReconnectRequest } from './prepare-requests.js';

type PromiseOrNot<T> = T | PromiseLike<T>;
type Setting<T> = PromiseOrNot<T> | (() => PromiseOrNot<T>);
type Signal = AbortSignal | undefined;

interface Prepared {
  api?: string;
  headers?: HeadersInit;
  credentials?: RequestCredentials;
}

/** The options of `DefaultChatTransport`. */
export interface ChatRequestsOptions {
  /** Default: `/api/chat`. */
  api?: string | undefined;
  credentials?: Setting<RequestCredentials> | undefined;
  headers?: Setting<Record<string, string> | Headers> | undefined;
  body?: Setting<object> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  prepareSendMessagesRequest?: (
    request: ChatSendRequest & { api: string; requestMetadata: unknown },
  ) => PromiseOrNot<Prepared & { body: object }>;
  prepareReconnectToStreamRequest?: (
    request: ReconnectRequest & { api: string; body: object; requestMetadata: unknown },
  ) => PromiseOrNot<Prepared>;
}

/** The requests of a chat: null for 204, a thrown ChatRequestError for a refusal. */
export interface ChatRequests {
  /** Returns a function that sends the request; each call sends the same body. */
  prepareSend: (
    options: SendMessagesOptions,
  ) => Promise<(signal: Signal) => Promise<Response | null>>;
  /** Requests the active turn from its beginning, or the part after a position. */
  follow: (asked: ReconnectOptions, signal: Signal, after?: number) => Promise<Response | null>;
  /** Loads the conversation from the server; undefined if it does not exist. */
  snapshot: <M extends ChatMessage>(
    chatId: string,
    signal: Signal,
  ) => Promise<FrontendSnapshot<Record<string, unknown>, M> | undefined>;
  /** `keepalive` sends the request even while the page is being closed. */
  lease: (
    chatId: string,
    toolCallId: string,
    body: object,
    init: { signal?: AbortSignal; keepalive?: boolean },
  ) => Promise<unknown>;
}

export function createChatRequests(options: ChatRequestsOptions): ChatRequests {
  const { api = '/api/chat' } = options;
  return {
    prepareSend: async (asked) => {
      const { chatId: id, messages, trigger, messageId } = asked;
      const base = await readBase(asked);
      const prepared = await options.prepareSendMessagesRequest?.({
        ...base,
        api,
        id,
        messages,
        trigger,
        messageId,
        requestMetadata: asked.metadata,
      });
      const headers = new Headers(prepared?.headers ?? base.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      const body = prepared?.body ?? { ...base.body, id, messages, trigger, messageId };
      const init = {
        method: 'POST',
        headers,
        credentials: prepared?.credentials ?? base.credentials,
        body: JSON.stringify(body),
      };
      return (signal) => request(prepared?.api ?? api, init, signal);
    },
    follow: async (asked, signal, after) => {
      const { url, headers, ...rest } = await readTarget(asked);
      if (after !== undefined) {
        // The snapshot's position takes precedence, and would request the turn from its beginning.
        headers.delete(HEADERS.resumeFromSequence);
        headers.set(HEADERS.lastEventId, String(after));
      }
      return request(url, { method: 'GET', headers, ...rest }, signal);
    },
    snapshot: async (chatId, signal) => {
      const { url, ...rest } = await readTarget({ chatId });
      const init = { cache: 'no-store', ...rest } as const;
      const asked = request(addPath(url, '/snapshot', STREAM), init, signal);
      const response = await asked.catch(noneIfMissing);
      return (await response?.json()) as FrontendSnapshot<never, never> | undefined;
    },
    lease: async (chatId, toolCallId, body, { signal, keepalive = false }) => {
      const { url, headers, ...rest } = await readTarget({ chatId });
      headers.set('content-type', 'application/json');
      const path = `/pending/${encodeURIComponent(toolCallId)}/lease`;
      const init = { method: 'POST', headers, ...rest, body: JSON.stringify(body), keepalive };
      return request(addPath(url, path, STREAM), init, signal);
    },
  };

  async function readTarget(
    asked: ReconnectOptions,
  ): Promise<{ url: string; headers: Headers; credentials?: RequestCredentials }> {
    const { chatId: id, metadata: requestMetadata } = asked;
    const base = await readBase(asked);
    const prepared = await options.prepareReconnectToStreamRequest?.({
      ...base,
      api,
      id,
      requestMetadata,
    });
    return {
      url: prepared?.api ?? addPath(api, `/${encodeURIComponent(id)}/stream`),
      headers: new Headers(prepared?.headers ?? base.headers),
      credentials: prepared?.credentials ?? base.credentials,
    };
  }

  async function readBase(asked: ChatRequestOptions): Promise<{
    headers: Record<string, string>;
    body: object;
    credentials: RequestCredentials | undefined;
  }> {
    const headers = new Headers(await resolve(options.headers));
    for (const [name, value] of new Headers(asked.headers)) headers.set(name, value);
    return {
      headers: Object.fromEntries(headers),
      body: { ...(await resolve(options.body)), ...asked.body },
      credentials: await resolve(options.credentials),
    };
  }

  async function request(url: string, init: RequestInit, signal: Signal): Promise<Response | null> {
    // This reads `fetch` for each request, since an application may replace it.
    const fetch = options.fetch ?? globalThis.fetch;
    const response = await fetch(url, { ...init, ...(signal && { signal }) });
    if (response.status === 204) return null;
    if (!response.ok) throw new ChatRequestError(response.status, await response.text());
    return response;
  }
}

/** The options of the chat's transport, so that both ask the same server as the same user. */
export interface LoadSnapshotOptions extends ChatRequestsOptions {
  signal?: AbortSignal | undefined;
}

/**
 * Loads a page's initial state: messages, open questions, state, and whether a reply is running. A
 * chat without a message has an empty snapshot, since the server answers 404 for it, as for another
 * user's.
 *
 * @throws ChatRequestError for any other refusal
 * @example
 * import { loadSnapshot } from 'helix-temporal/ai-sdk/client';
 *
 * const { messages, pending, status } = await loadSnapshot('chat-1', { api: '/api/chat' });
 * console.log(messages.length, pending?.length, status === 'active' || status === 'paused');
 */
export async function loadSnapshot<
  State = Record<string, unknown>,
  Message extends ChatMessage = UIMessage,
>(
  chatId: string,
  { signal, ...options }: LoadSnapshotOptions = {},
): Promise<FrontendSnapshot<State, Message>> {
  const snapshot = await createChatRequests(options).snapshot<Message>(chatId, signal);
  if (snapshot !== undefined) return snapshot as FrontendSnapshot<State, Message>;
  return {
    state: null,
    messages: [],
    streamSequence: 0,
    status: 'ended',
    checkpointId: null,
    timestamp: Date.now(),
    pending: [],
    queue: [],
  };
}

async function resolve<T>(value: Setting<T> | undefined): Promise<T | undefined> {
  return typeof value === 'function' ? (value as () => PromiseOrNot<T>)() : value;
}

/** The end of the URL at which a session's stream is followed, after the session's own. */
const STREAM = /\/(stream)?$/;

/** Replaces the end of a URL, before its query, by a path. */
function addPath(url: string, path: string, end = /\/$/): string {
  const at = url.search(/[?#]/);
  const base = at < 0 ? url : url.slice(0, at);
  return `${base.replace(end, '')}${path}${at < 0 ? '' : url.slice(at)}`;
}
