import { Chat as ChatOf7 } from '@ai-sdk/react';
import type { DynamicToolUIPart, UIMessage } from 'ai';
import { Chat as ChatOf6 } from 'ai-sdk-react-v6';
import type { FrontendSnapshot } from '../../protocol/replies.js';
import { MAJORS, type ChatLibrary } from './stock-chat.js';
import { until } from './until.js';

export type ClientLibrary = ChatLibrary & { Chat: typeof ChatOf7 };

const [[, ai6], [, ai7]] = MAJORS;

export const CLIENT_7: ClientLibrary = { ...ai7, Chat: ChatOf7 };

/** Both majors of the AI SDK, with the chat of their React packages. Their shapes agree here. */
export const CLIENTS: readonly [name: string, library: ClientLibrary][] = [
  ['ai 6', { ...ai6, Chat: ChatOf6 as unknown as typeof ChatOf7 }],
  ['ai 7', CLIENT_7],
];

export type Snapshot = FrontendSnapshot<Record<string, unknown>, UIMessage>;

export interface SentRequest {
  method: string;
  status: number | undefined;
  headers: Headers | undefined;
}

export interface ChatClient {
  readonly chat: ChatOf7<UIMessage>;
  /** Everything that the client sent for the chat, except snapshots. */
  readonly requests: SentRequest[];
  readonly errors: Error[];
  posts: () => number;
  /** Messages as a page stores and posts them, without keys whose value is undefined. */
  messages: () => UIMessage[];
  /** Text of the newest message; empty if it is not the agent's. */
  reply: () => string;
}

export interface ClientOptions {
  url: string;
  sessionId: string;
  /** Default: the lab agent. */
  agent?: string | undefined;
  messages?: UIMessage[];
  headers?: Record<string, string>;
}

/** A stock chat on a stock transport, which sends answers and results automatically. */
export function openChat(library: ClientLibrary, options: ClientOptions): ChatClient {
  const requests: SentRequest[] = [];
  const errors: Error[] = [];
  const chat = new library.Chat({
    id: options.sessionId,
    messages: options.messages ?? [],
    transport: new library.DefaultChatTransport<UIMessage>({
      api: `${options.url}/api/chat`,
      body: { agent: options.agent ?? 'lab' },
      headers: options.headers ?? {},
      fetch: async (input, init) => {
        const request: SentRequest = {
          method: init?.method ?? 'GET',
          status: undefined,
          headers: undefined,
        };
        requests.push(request);
        if (requests.length > 12) throw new Error('the client posts without end');
        const response = await fetch(input, init);
        request.status = response.status;
        request.headers = response.headers;
        return response;
      },
    }),
    sendAutomaticallyWhen: (state) =>
      library.lastAssistantMessageIsCompleteWithApprovalResponses(state) ||
      library.lastAssistantMessageIsCompleteWithToolCalls(state),
    onError: (error) => errors.push(error),
  });
  return {
    chat,
    requests,
    errors,
    posts: () => requests.filter(({ method }) => method === 'POST').length,
    messages: () => JSON.parse(JSON.stringify(chat.messages)) as UIMessage[],
    reply: () => (chat.lastMessage?.role === 'assistant' ? textOf(chat.lastMessage) : ''),
  };
}

/** Loads a page (again): first the snapshot, then the stream of the active turn. */
export async function loadChat(
  library: ClientLibrary,
  options: ClientOptions,
): Promise<{ client: ChatClient; snapshot: Snapshot; resumed: Promise<void> }> {
  const snapshot = await loadSnapshot(options.url, options.sessionId);
  const client = openChat(library, { ...options, messages: snapshot.messages });
  return { client, snapshot, resumed: client.chat.resumeStream() };
}

export async function loadSnapshot(
  url: string,
  sessionId: string,
  headers: Record<string, string> = {},
): Promise<Snapshot> {
  const response = await fetch(`${url}/api/chat/${sessionId}/snapshot`, { headers });
  if (response.status !== 200) throw new Error(`snapshot: ${String(response.status)}`);
  return (await response.json()) as Snapshot;
}

/** Waits until the newest run of a conversation, which may not be there yet, has ended. */
export function untilEnded(url: string, sessionId: string): Promise<Snapshot> {
  return until(`${sessionId} has ended`, async () => {
    const snapshot = await loadSnapshot(url, sessionId).catch(() => undefined);
    return snapshot?.status === 'ended' ? snapshot : undefined;
  });
}

export function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Returns true for a tool call, dynamic or named by its tool. */
export function isCall(part: { type: string }): part is DynamicToolUIPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

export function callsOf(message: UIMessage | undefined): DynamicToolUIPart[] {
  return (message?.parts ?? []).filter(isCall);
}

export function isBusy({ chat }: ChatClient): boolean {
  return chat.status === 'submitted' || chat.status === 'streaming';
}

/**
 * Resolves when the chat rests. It sends automatically at the end of a response, so it
 * must be at rest several times, with a round trip to the server between.
 */
export async function untilRests(client: ChatClient, url: string): Promise<void> {
  let rested = 0;
  await until('the chat rests', async () => {
    const before = client.requests.length;
    await fetch(`${url}/healthz`).then((response) => response.arrayBuffer());
    rested = isBusy(client) || client.requests.length > before ? 0 : rested + 1;
    return rested === 3;
  });
}

/** Waits for an open question in the newest message. */
export function untilAsked(client: ChatClient, toolCallId?: string): Promise<string> {
  return until('the agent asks for approval', () => {
    if (client.chat.status !== 'ready') return undefined;
    const call = callsOf(client.chat.lastMessage).find(
      (part) =>
        part.state === 'approval-requested' &&
        (toolCallId === undefined || part.toolCallId === toolCallId),
    );
    return call?.state === 'approval-requested' ? call.approval.id : undefined;
  });
}

/** Returns a message that tells the lab agent what to do, step by step. */
export function toScript(...script: object[]): { text: string } {
  return { text: JSON.stringify({ script }) };
}
