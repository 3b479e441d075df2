import * as ai7 from 'ai';
import * as ai6 from 'ai-v6';
import type {
  ChatInit,
  ChatState,
  ChatStatus,
  ChatTransport,
  UIMessage as LibraryMessage,
} from 'ai';
import type { UIMessage } from '../../ai-sdk/index.js';

export type ChatLibrary = Pick<
  typeof ai7,
  | 'AbstractChat'
  | 'DefaultChatTransport'
  | 'lastAssistantMessageIsCompleteWithApprovalResponses'
  | 'lastAssistantMessageIsCompleteWithToolCalls'
  | 'uiMessageChunkSchema'
  | 'validateUIMessages'
>;

/** Both majors of the AI SDK's client. Their shapes agree where these tests touch them. */
export const MAJORS = [
  ['ai 6', ai6 as unknown as ChatLibrary],
  ['ai 7', ai7],
] as const satisfies readonly [name: string, library: ChatLibrary][];

export interface StockChat {
  readonly messages: UIMessage[];
  readonly status: ChatStatus;
  readonly error: Error | undefined;
  sendMessage: (message?: { text: string }) => Promise<void>;
  resumeStream: () => Promise<void>;
  addToolApprovalResponse: (answer: {
    id: string;
    approved: boolean;
    reason?: string;
  }) => void | PromiseLike<void>;
  addToolOutput: (
    answer: { tool: string; toolCallId: string } & (
      { output: unknown } | { state: 'output-error'; errorText: string }
    ),
  ) => void | PromiseLike<void>;
  stop: () => Promise<void>;
  /** Requests so far, each as `POST` or `GET`. */
  readonly requests: string[];
  /** Names of transient data parts that `onData` saw. */
  readonly seen: string[];
}

export interface StockChatOptions {
  id: string;
  messages?: UIMessage[];
  /** Answers requests in place of a server. */
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Default: the stock transport. It gets the counting fetch. */
  transport?: (fetch: typeof globalThis.fetch) => ChatTransport<LibraryMessage>;
  /** Posts automatically when both stock predicates would. */
  isAutomatic?: boolean;
  /** Replaces the stock predicates. */
  sendAutomaticallyWhen?: ChatInit<LibraryMessage>['sendAutomaticallyWhen'];
  /** Limit beyond which the client counts as looping. Default: 8. */
  mostRequests?: number;
}

/** Creates one major's stock chat with its stock transport, without React. */
export function createStockChat(library: ChatLibrary, options: StockChatOptions): StockChat {
  const requests: string[] = [];
  const seen: string[] = [];
  const state: ChatState<LibraryMessage> = {
    status: 'ready',
    error: undefined,
    messages: [...((options.messages ?? []) as LibraryMessage[])],
    pushMessage: (message) => {
      state.messages = [...state.messages, message];
    },
    popMessage: () => {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage: (index, message) => {
      state.messages = state.messages.with(index, structuredClone(message));
    },
    snapshot: (value) => structuredClone(value),
  };
  class Chat extends library.AbstractChat<LibraryMessage> {}
  const send: typeof globalThis.fetch = (url, init = {}) => {
    requests.push(init.method ?? 'GET');
    if (requests.length > (options.mostRequests ?? 8))
      throw new Error('the client posts without end');
    return options.fetch(url as string, init);
  };
  const chat = new Chat({
    id: options.id,
    state,
    transport:
      options.transport?.(send) ??
      new library.DefaultChatTransport({ api: 'http://chat.test/api/chat', fetch: send }),
    onData: ({ type }) => seen.push(type),
    ...(options.sendAutomaticallyWhen && {
      sendAutomaticallyWhen: options.sendAutomaticallyWhen,
    }),
    ...(options.isAutomatic === true && {
      sendAutomaticallyWhen: (last) =>
        library.lastAssistantMessageIsCompleteWithApprovalResponses(last) ||
        library.lastAssistantMessageIsCompleteWithToolCalls(last),
    }),
  });
  return {
    get messages() {
      // A page stores and posts messages as JSON, which drops keys whose value is undefined.
      return JSON.parse(JSON.stringify(chat.messages)) as UIMessage[];
    },
    get status() {
      return chat.status;
    },
    get error() {
      return chat.error;
    },
    sendMessage: (message) => chat.sendMessage(message),
    resumeStream: () => chat.resumeStream(),
    addToolApprovalResponse: (answer) => chat.addToolApprovalResponse(answer),
    addToolOutput: (answer) => chat.addToolOutput(answer),
    stop: () => chat.stop(),
    requests,
    seen,
  };
}

/** Resolves once the chat and its automatic requests have come to rest. */
export async function untilReady(chat: StockChat): Promise<void> {
  for (let rested = 0; rested < 5;) {
    await new Promise((resolve) => setImmediate(resolve));
    rested = chat.status === 'ready' || chat.status === 'error' ? rested + 1 : 0;
  }
}
