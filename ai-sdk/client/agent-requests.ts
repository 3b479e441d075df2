import { HEADERS } from '../../protocol/wire-names.js';
import type { AgentStarted, AgentStatus, ToolResultTaken } from '../../protocol/agent-server.js';
import { ChatRequestError } from './errors.js';
import type { ChatRequestOptions } from './chat-transport.js';

export interface AgentRequestsOptions {
  /** Base URL of the agent-server routes. */
  endpoint: string;
  headers?: Record<string, string> | Headers | (() => Record<string, string> | Headers);
  credentials?: RequestCredentials;
  fetch?: typeof globalThis.fetch;
}

type Signal = AbortSignal | undefined;

/** The agent-server routes that a chat needs. A refusal is thrown as a ChatRequestError. */
export interface AgentRequests {
  start: (body: object, signal: Signal) => Promise<AgentStarted>;
  /** Resumes a session. */
  resume: (body: object, signal: Signal) => Promise<AgentStarted>;
  submit: (body: object, signal: Signal) => Promise<ToolResultTaken>;
  /** Resolves to undefined if the session does not exist. */
  status: (sessionId: string, signal: Signal) => Promise<AgentStatus | undefined>;
  /** Requests the events after a sequence. */
  events: (sessionId: string, after: number, signal: Signal) => Promise<Response>;
}

export function createAgentRequests(
  { endpoint, headers: own, credentials, fetch: send }: AgentRequestsOptions,
  asked: ChatRequestOptions,
): AgentRequests {
  const base = endpoint.replace(/\/$/, '');
  const post = async <Reply>(path: string, body: object, signal: Signal): Promise<Reply> => {
    const init = { method: 'POST', body: JSON.stringify({ ...asked.body, ...body }) };
    const response = await request(path, init, { 'content-type': 'application/json' }, signal);
    return (await response.json()) as Reply;
  };
  return {
    start: (body, signal) => post('/start', body, signal),
    resume: (body, signal) => post('/resume', body, signal),
    submit: (body, signal) => post('/submit-tool-result', body, signal),
    status: async (sessionId, signal) => {
      try {
        const path = `/status?sessionId=${encodeURIComponent(sessionId)}`;
        const response = await request(path, { cache: 'no-store' }, {}, signal);
        return (await response.json()) as AgentStatus;
      } catch (error) {
        if (error instanceof ChatRequestError && error.statusCode === 404) return undefined;
        throw error;
      }
    },
    events: (sessionId, after, signal) => {
      const path = `/sse?sessionId=${encodeURIComponent(sessionId)}`;
      return request(path, {}, { [HEADERS.lastEventId]: String(after) }, signal);
    },
  };

  async function request(
    path: string,
    init: RequestInit,
    extra: Record<string, string>,
    signal: Signal,
  ): Promise<Response> {
    const headers = new Headers(typeof own === 'function' ? own() : own);
    for (const [name, value] of new Headers(asked.headers)) headers.set(name, value);
    for (const [name, value] of Object.entries(extra)) headers.set(name, value);
    const response = await (send ?? globalThis.fetch)(`${base}${path}`, {
      ...init,
      headers,
      credentials,
      // Old chats have no signal, and a page's own `fetch` may expect a signal or nothing, not
      // null.
      ...(signal && { signal }),
    });
    if (!response.ok) throw new ChatRequestError(response.status, await response.text());
    return response;
  }
}
