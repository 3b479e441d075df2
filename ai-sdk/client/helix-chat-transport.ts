import type { AgentStarted, AgentStatus, ToolResultTaken } from '../../protocol/agent-server.js';
import { hashInput } from '../../protocol/shown-call.js';
import { HEADERS } from '../../protocol/ids.js';
import { toNoticeEvents } from '../parts/message-events.js';
import { AgentTurn, type AgentTurnSpan } from './agent-turn.js';
import {
  lastReplyOf,
  clientCallsOf,
  isAnswered,
  toNewestStep,
  type ChatMessage,
  type ToolCallPart,
} from './chat-message.js';
import type {
  ChatRequestOptions,
  CommonStreamPart,
  HelixTransport,
  SendMessagesOptions,
} from './chat-transport.js';
import { receive, toStream } from './connections.js';
import { ChatRequestError, ReplyBrokenError } from './errors.js';
import { persist, Retries, toPatience, type Patience } from './patience.js';

export interface HelixChatTransportOptions extends Partial<Patience> {
  /** Base URL of the agent-server routes. */
  endpoint: string;
  headers?: Record<string, string> | Headers | (() => Record<string, string> | Headers);
  credentials?: RequestCredentials;
  fetch?: typeof globalThis.fetch;
  /** Default: the id of the chat. */
  sessionId?: string;
  /** The agent to talk to. */
  agentType?: string;
  /** Sequence of the page's snapshot; a turn active then is streamed even if it has ended. */
  resumeFromSequence?: number | undefined;
}

/**
 * Creates a transport on the agent-server routes instead of a chat route: it starts runs, submits
 * each answer once, and builds a message's parts from the stream's events, over any number of
 * connections. A reply that cannot be completed errors with a ReplyBrokenError. It repeats turns,
 * but does not edit messages.
 *
 * @example
 * import { createHelixChatTransport } from 'helix-temporal/ai-sdk';
 *
 * const transport = createHelixChatTransport({
 *   endpoint: '/api/agent',
 *   agentType: 'support',
 *   headers: () => ({ authorization: `Bearer ${localStorage.getItem('token') ?? ''}` }),
 * });
 */
export function createHelixChatTransport(options: HelixChatTransportOptions): HelixTransport {
  const { agentType } = options;
  const patience = toPatience(options);
  /** Until the first stream the page has only the snapshot's entries. */
  let { resumeFromSequence: seenUpTo = Infinity } = options;

  return {
    resumeStreamIsReplay: true,
    sendMessages: async (asked) => {
      const { trigger, chatId, messages, abortSignal: signal } = asked;
      const sessionId = options.sessionId ?? chatId;
      const requests = createAgentRequests(options, asked);
      const isAnswer = trigger === 'submit-message' && lastReplyOf(messages) !== undefined;
      const ask = isAnswer ? answer : trigger === 'submit-message' ? start : repeat;
      const span = await ask(requests, sessionId, asked);
      return 'parts' in span ? toStream(() => whole(span.parts)) : follow(requests, span, signal);
    },
    reconnectToStream: async (asked) => {
      const sessionId = options.sessionId ?? asked.chatId;
      const { abortSignal: signal } = asked;
      const requests = createAgentRequests(options, asked);
      const status = await keepTrying(() => requests.status(sessionId, signal), signal);
      if (status === undefined || status.stream === 'failed') return null;
      if (status.stream !== 'active' && status.latestSequence <= seenUpTo) return null;
      return follow(requests, { status, from: status.turnStartSequence, isTail: false }, signal);
    },
  };

  async function start(
    requests: AgentRequests,
    sessionId: string,
    { messages, abortSignal: signal }: SendMessagesOptions,
  ): Promise<AgentTurnSpan> {
    const body = { sessionId, agentType, message: toUserMessages(messages) };
    const { runId } = await keepTrying(() => requests.start(body, signal), signal);
    return findTurn(requests, sessionId, runId, signal);
  }

  /** Repeats the turn of the newest message; a message that never arrived is sent. */
  async function repeat(
    requests: AgentRequests,
    sessionId: string,
    asked: SendMessagesOptions,
  ): Promise<AgentTurnSpan> {
    const { messages, abortSignal: signal } = asked;
    try {
      const body = { sessionId, mode: 'retry', messageId: messages.at(-1)?.id };
      // A retry could repeat the turn twice.
      const { runId } = await requests.resume(body, signal);
      return await findTurn(requests, sessionId, runId, signal);
    } catch (error) {
      const isUnknown = error instanceof ChatRequestError && error.statusCode === 404;
      if (isUnknown) return start(requests, sessionId, asked);
      throw error;
    }
  }

  async function findTurn(
    requests: AgentRequests,
    sessionId: string,
    runId: string,
    signal: AbortSignal | undefined,
  ): Promise<AgentTurnSpan> {
    const status = await keepTrying(() => requests.status(sessionId, signal), signal);
    // Another turn has begun meanwhile; only the history has this one.
    if (status?.run.runId !== runId) throw new ReplyBrokenError('withdrawn');
    return { status, from: status.turnStartSequence, isTail: false };
  }

  /** Submits the newest message's answers and returns the span after them, or an empty reply. */
  async function answer(
    requests: AgentRequests,
    sessionId: string,
    { messages, abortSignal: signal }: SendMessagesOptions,
  ): Promise<AgentTurnSpan | { parts: CommonStreamPart[] }> {
    const message = lastReplyOf(messages);
    const status = await keepTrying(() => requests.status(sessionId, signal), signal);
    if (message === undefined || status?.messageId !== message.id) {
      throw new ReplyBrokenError('withdrawn');
    }
    const waiting = new Map(status.pending.map((call) => [call.toolCallId, call]));
    let isResumed = status.stream !== 'paused';
    for (const { toolCallId, body } of toAnswers(message)) {
      const call = waiting.get(toolCallId);
      if (call === undefined) continue;
      const { approvalId } = call;
      const taken = await keepTrying(
        () => submit(requests, { sessionId, approvalId, ...body }, signal),
        signal,
      );
      isResumed ||= taken;
    }
    if (!isResumed) {
      // The reply adds nothing, since the run waits for other answers.
      const { parts } = toNewestStep(message);
      const notice = toNoticeEvents(message.id, parts, 'tool-calls');
      return { parts: notice as CommonStreamPart[] };
    }
    // The span begins after the pause that asked, as known before the answers.
    return { status: { ...status, stream: 'active' }, from: status.pauseSequence, isTail: true };
  }

  /** Returns true if the run continues. An answer whose reply was lost has been accepted. */
  async function submit(
    requests: AgentRequests,
    body: object,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    try {
      return (await requests.submit(body, signal)).resumed;
    } catch (error) {
      if (error instanceof ChatRequestError && error.code === 'already_completed') return true;
      throw error;
    }
  }

  function follow(
    requests: AgentRequests,
    span: AgentTurnSpan,
    abortSignal: AbortSignal | undefined,
  ): ReadableStream<CommonStreamPart> {
    seenUpTo = Infinity;
    return toStream(async function* (signal) {
      const { sessionId } = span.status;
      const turn = new AgentTurn(span, (after) => requests.events(sessionId, after, signal));
      yield turn.start();
      yield* receive(turn, patience, signal);
    }, abortSignal);
  }

  function keepTrying<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return persist(attempt, new Retries(patience), signal);
  }
}

async function* whole(
  parts: CommonStreamPart[],
): AsyncGenerator<CommonStreamPart[], void, undefined> {
  yield await Promise.resolve(parts);
}

/** Returns the answers in a message, in the form of `/submit-tool-result`. */
function toAnswers(message: ChatMessage): { toolCallId: string; body: object }[] {
  return clientCallsOf(toNewestStep(message))
    .filter(isAnswered)
    .map((part) => ({ toolCallId: part.toolCallId, body: toAnswer(part) }));
}

function toAnswer(part: ToolCallPart): object {
  const { toolCallId, state, approval, output, errorText } = part;
  const inputHash = hashInput(part.input);
  if (state === 'approval-responded' && approval !== undefined) {
    const { id: approvalId, approved = false, reason } = approval;
    return { kind: 'approval-response', toolCallId, approvalId, inputHash, approved, reason };
  }
  const kind = 'client-tool-result';
  if (state === 'output-error') return { kind, toolCallId, inputHash, error: errorText ?? '' };
  return { kind, toolCallId, inputHash, result: output ?? null };
}

/** Returns the user's messages since the last reply, in the form of `/start`. */
function toUserMessages(messages: readonly ChatMessage[]): object[] {
  const start = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  return messages.slice(start).map(({ id, parts, metadata }) => ({
    id,
    parts: parts.filter(isSent),
    metadata: metadata ?? undefined,
  }));
}

/** Returns true for text, files and the page's own parts with data: JSON has no `undefined`. */
function isSent(part: ChatMessage['parts'][number]): boolean {
  if (part.type.startsWith('data-')) return 'data' in part && part.data !== undefined;
  return part.type === 'text' || part.type === 'file';
}

type Signal = AbortSignal | undefined;
type AgentRequests = ReturnType<typeof createAgentRequests>;

/** Makes the requests of a chat's agent-server routes. A refusal is thrown as a ChatRequestError. */
function createAgentRequests(
  { endpoint, headers: own, credentials, fetch: send }: HelixChatTransportOptions,
  asked: ChatRequestOptions,
) {
  const base = endpoint.replace(/\/$/, '');
  const post = async <Reply>(path: string, body: object, signal: Signal): Promise<Reply> => {
    const init = { method: 'POST', body: JSON.stringify({ ...asked.body, ...body }) };
    const response = await request(path, init, { 'content-type': 'application/json' }, signal);
    return (await response.json()) as Reply;
  };
  return {
    start: (body: object, signal: Signal) => post<AgentStarted>('/start', body, signal),
    resume: (body: object, signal: Signal) => post<AgentStarted>('/resume', body, signal),
    submit: (body: object, signal: Signal) =>
      post<ToolResultTaken>('/submit-tool-result', body, signal),
    /** Resolves to undefined if the session does not exist. */
    status: async (sessionId: string, signal: Signal): Promise<AgentStatus | undefined> => {
      try {
        const path = `/status?sessionId=${encodeURIComponent(sessionId)}`;
        const response = await request(path, { cache: 'no-store' }, {}, signal);
        return (await response.json()) as AgentStatus;
      } catch (error) {
        if (error instanceof ChatRequestError && error.statusCode === 404) return undefined;
        throw error;
      }
    },
    /** Requests the events after a sequence. */
    events: (sessionId: string, after: number, signal: Signal) => {
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
