import type { AgentStarted, AgentStatus, ToolResultTaken } from '../../protocol/agent-server.js';
import type { StopReply } from '../../protocol/replies.js';
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
  CommonStreamPart,
  HelixTransport,
  ReconnectOptions,
  SendMessagesOptions,
} from './chat-transport.js';
import { receive, toStream } from './connections.js';
import { ChatRequestError, noneIfMissing, ReplyBrokenError } from './errors.js';
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
  const patience = toPatience(options);
  /** Until the first stream the page has only the snapshot's entries. */
  let { resumeFromSequence: seenUpTo = Infinity } = options;
  /** The newest turn of each session that this page began or followed. */
  const streamed = new Map<string, { runId: string; turn?: AgentTurn; signal: Signal }>();
  /** Ids of messages that the server refused; the page shows them still. */
  const refused = new Set<string>();

  return {
    resumeStreamIsReplay: true,
    sendMessages: async (asked) => {
      const { trigger, messages } = asked;
      const requests = createAgentRequests(options, asked, patience);
      if (trigger === 'submit-message' && lastReplyOf(messages) !== undefined) {
        const span = await answer(requests, messages);
        return 'status' in span ? follow(requests, span) : span;
      }
      await makeReady(requests, messages);
      const { sessionId, signal } = requests;
      const begin = trigger === 'submit-message' ? start : repeat;
      const runId = await begin(requests, messages, refused);
      // The page may stop the turn before it is followed.
      streamed.set(sessionId, { runId, signal });
      return follow(requests, await findTurn(requests, runId));
    },
    reconnectToStream: async (asked) => {
      const requests = createAgentRequests(options, asked, patience);
      const status = await requests.status();
      if (status === undefined || status.stream === 'failed') return null;
      if (status.stream !== 'active' && status.latestSequence <= seenUpTo) return null;
      return follow(requests, { status, from: status.turnStartSequence, isTail: false });
    },
  };

  /**
   * Prepares the session for a new turn: ends the reply that the page stopped, or submits the
   * answers in it, whose calls the turn would abandon.
   */
  async function makeReady(
    requests: AgentRequests,
    messages: readonly ChatMessage[],
  ): Promise<void> {
    const last = streamed.get(requests.sessionId);
    const isStopped = last?.signal?.aborted === true && last.turn?.isOver !== true;
    const reply = messages.findLast(({ role }) => role !== 'user');
    const hasAnswers = reply !== undefined && toAnswers(reply).length > 0;
    if (!isStopped && !hasAnswers) return;
    const status = await requests.status();
    let isAtWork = false;
    if (isStopped && status?.stream === 'active' && status.run.runId === last.runId) {
      isAtWork = (await requests.interrupt(last.runId)).result !== 'nothing';
    } else if (hasAnswers && status?.messageId === reply.id) {
      isAtWork = await submitAll(requests, status, reply, OVERTAKEN);
    }
    if (status === undefined || !isAtWork) return;
    const signal = requests.signal ?? new AbortController().signal;
    const span = { status, from: status.latestSequence, isTail: true, isUnread: true };
    const turn = new AgentTurn(span, (after) => requests.events(after, signal));
    for await (const _ of receive(turn, patience, signal));
  }

  function follow(requests: AgentRequests, span: AgentTurnSpan): ReadableStream<CommonStreamPart> {
    seenUpTo = Infinity;
    const { sessionId, signal: left } = requests;
    return toStream(async function* (signal) {
      const turn = new AgentTurn(span, (after) => requests.events(after, signal));
      streamed.set(sessionId, { runId: span.status.run.runId, turn, signal: left });
      yield turn.start();
      yield* receive(turn, patience, signal);
    }, left);
  }
}

/** Refusals of a message that the server would refuse again. */
const OF_MESSAGE = ['validation_error', 'message_too_large', 'body_too_large'];

/**
 * Starts a run for the newest messages and returns its id. A message that was refused is passed over, since it
 * must keep no later one back.
 */
async function start(
  requests: AgentRequests,
  messages: readonly ChatMessage[],
  refused: Set<string>,
): Promise<string> {
  const sent = toUserMessages(messages).filter(
    ({ id }, at, all) => at === all.length - 1 || !refused.has(id),
  );
  try {
    return (await requests.start(sent)).runId;
  } catch (error) {
    const isOfMessage = error instanceof ChatRequestError && OF_MESSAGE.includes(error.code ?? '');
    if (!isOfMessage) throw error;
    const last = messages.slice(-1);
    // The server may have refused an earlier message, so the newest one is sent alone.
    if (sent.length > 1) return start(requests, last, refused);
    for (const { id } of last) refused.add(id);
    throw error;
  }
}

/** Repeats the turn of the newest message; a message that never arrived is sent. */
async function repeat(
  requests: AgentRequests,
  messages: readonly ChatMessage[],
  refused: Set<string>,
): Promise<string> {
  const begun = await requests.retry(messages.at(-1)?.id).catch(noneIfMissing);
  return begun?.runId ?? start(requests, messages, refused);
}

async function findTurn(requests: AgentRequests, runId: string): Promise<AgentTurnSpan> {
  const status = await requests.status();
  // Another turn has begun meanwhile; only the history has this one.
  if (status?.run.runId !== runId) throw new ReplyBrokenError('withdrawn');
  return { status, from: status.turnStartSequence, isTail: false };
}

/** Submits the newest message's answers and returns the span after them, or an empty reply. */
async function answer(
  requests: AgentRequests,
  messages: readonly ChatMessage[],
): Promise<AgentTurnSpan | ReadableStream<CommonStreamPart>> {
  const message = lastReplyOf(messages);
  const status = await requests.status();
  if (message === undefined || status?.messageId !== message.id) {
    throw new ReplyBrokenError('withdrawn');
  }
  const isResumed = await submitAll(requests, status, message);
  if (!isResumed && status.stream === 'paused') {
    // The reply adds nothing, since the run waits for other answers.
    const { parts } = toNewestStep(message);
    const notice = toNoticeEvents(message.id, parts, 'tool-calls');
    return toStream(async function* () {
      yield await Promise.resolve(notice as CommonStreamPart[]);
    });
  }
  // The span begins after the pause that asked, as known before the answers.
  return { status: { ...status, stream: 'active' }, from: status.pauseSequence, isTail: true };
}

/** The answer was accepted before: its reply may have been lost. */
const ACCEPTED = ['already_completed'];
/** Refusals that keep no new message back, as in the chat route. */
const OVERTAKEN = [
  ...ACCEPTED,
  'not_pending',
  'stale_run',
  'kind_mismatch',
  'expired',
  'late_answer_after_timeout',
];

/** Submits the answers for which calls wait; returns true if the run continues with them. */
async function submitAll(
  requests: AgentRequests,
  { pending, pauseSequence }: AgentStatus,
  reply: ChatMessage,
  ignored: readonly string[] = ACCEPTED,
): Promise<boolean> {
  const waiting = new Map(pending.map((call) => [call.toolCallId, call]));
  let isResumed = false;
  for (const { toolCallId, body } of toAnswers(reply)) {
    const call = waiting.get(toolCallId);
    if (call === undefined) continue;
    const taken = await requests.submit({ approvalId: call.approvalId, ...body }, ignored);
    if (taken === undefined) {
      const now = await requests.status();
      isResumed ||= now?.stream !== 'paused' || now.pauseSequence > pauseSequence;
    } else {
      isResumed ||= taken.resumed;
    }
  }
  return isResumed;
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
function toUserMessages(messages: readonly ChatMessage[]): { id: string }[] {
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

/**
 * Makes the requests of one act of a chat on its session. A refusal is thrown as a ChatRequestError;
 * requests that may be repeated are, while the server is away.
 */
function createAgentRequests(
  input: HelixChatTransportOptions,
  asked: SendMessagesOptions | ReconnectOptions,
  patience: Patience,
) {
  const { endpoint, agentType, headers: own, credentials, fetch: send, ...options } = input;
  const { chatId, abortSignal: signal } = asked;
  const { sessionId = chatId } = options;
  const base = endpoint.replace(/\/$/, '');
  const query = `?sessionId=${encodeURIComponent(sessionId)}`;
  const post = async <Reply>(path: string, body: object): Promise<Reply> => {
    const init = { method: 'POST', body: JSON.stringify({ ...asked.body, sessionId, ...body }) };
    const response = await request(path, init, { 'content-type': 'application/json' }, signal);
    return (await response.json()) as Reply;
  };
  const keepTrying = <T>(attempt: () => Promise<T>): Promise<T> =>
    persist(attempt, new Retries(patience), signal);
  return {
    sessionId,
    signal,
    start: (message: object[]) =>
      keepTrying(() => post<AgentStarted>('/start', { agentType, message })),
    /** Repeats a turn; the request is not repeated, which could do so twice. */
    retry: (messageId: string | undefined) =>
      post<AgentStarted>('/resume', { mode: 'retry', messageId }),
    interrupt: (runId: string) =>
      keepTrying(() => post<StopReply>('/interrupt', { runId, reason: 'superseded' })),
    /** Resolves to undefined if the answer is refused for an ignored reason. */
    submit: async (
      body: object,
      ignored: readonly string[],
    ): Promise<ToolResultTaken | undefined> => {
      try {
        return await keepTrying(() => post<ToolResultTaken>('/submit-tool-result', body));
      } catch (error) {
        if (error instanceof ChatRequestError && ignored.includes(error.code ?? ''))
          return undefined;
        throw error;
      }
    },
    /** Resolves to undefined if the session does not exist. */
    status: async (): Promise<AgentStatus | undefined> => {
      const read = () => request(`/status${query}`, { cache: 'no-store' }, {}, signal);
      const response = await keepTrying(read).catch(noneIfMissing);
      return (await response?.json()) as AgentStatus | undefined;
    },
    /** Requests the events after a sequence. */
    events: (after: number, reading: AbortSignal) =>
      request(`/sse${query}`, {}, { [HEADERS.lastEventId]: String(after) }, reading),
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
