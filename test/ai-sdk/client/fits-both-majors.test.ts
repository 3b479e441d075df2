import {
  Chat as ChatOf7,
  useChat as useChatOf7,
  type UIMessage as MessageOf7,
} from '@ai-sdk/react';
import { DefaultChatTransport as TransportOf7 } from 'ai';
import {
  Chat as ChatOf6,
  useChat as useChatOf6,
  type UIMessage as MessageOf6,
} from 'ai-sdk-react-v6';
import { DefaultChatTransport as TransportOf6 } from 'ai-v6';
import {
  createHelixChatTransport,
  createHelixSendAutomaticallyWhen,
  createResumableChatTransport,
  prepareHelixChatRequest,
  prepareHelixReconnectRequest,
  rebuildReply,
} from '../../../ai-sdk/client/index.js';
import type { FrontendSnapshot } from '../../../ai-sdk/index.js';
import {
  useAutoResync,
  useHelixChat,
  useHelixSendAutomaticallyWhen,
  useResumableChat,
  useResumeClientTools,
  useStreamData,
  useStreamResync,
} from '../../../ai-sdk/react/index.js';

/* The same usage against the types of both majors; the hooks are compiled, not run. */

interface State {
  notes: string[];
}

/** As a page gets it from `buildSnapshot`. */
declare const snapshot: FrontendSnapshot<State>;

export const useLoaded = (): unknown => [
  snapshot.state?.notes,
  useChatOf6({ messages: snapshot.messages }),
  useChatOf7({ messages: snapshot.messages }),
  useHelixChat({ messages: snapshot.messages }),
];

const options = { api: '/api/chat/s1', resumeFromSequence: 3, body: { agent: 'lab' } };
const requests = {
  api: '/api/chat',
  prepareSendMessagesRequest: prepareHelixChatRequest(options),
  prepareReconnectToStreamRequest: prepareHelixReconnectRequest(options),
};

export function useOf6(): void {
  const { data, onData } = useStreamData();
  const transport = new TransportOf6<MessageOf6>(requests);
  const sendAutomaticallyWhen = useHelixSendAutomaticallyWhen('s1');
  const chat = useChatOf6({ id: 's1', transport, sendAutomaticallyWhen, onData });
  useResumeClientTools({
    chat,
    toolHandlers: {
      edit: async (input: { text: string }, { abortSignal }) => [input, abortSignal],
    },
  });
  const { setMessages } = chat;
  useResumableChat(data, { snapshotUrl: '/api/chat/s1/snapshot', setMessages });
  useAutoResync<MessageOf6>({ snapshotUrl: '/api/chat/s1/snapshot', setMessages });
  useStreamResync(data, ({ data: { reason } }) => reason);
}

export function useOf7(): void {
  const { data, onData } = useStreamData();
  const transport = new TransportOf7<MessageOf7>(requests);
  const sendAutomaticallyWhen = useHelixSendAutomaticallyWhen('s1');
  const chat = useChatOf7({ id: 's1', transport, sendAutomaticallyWhen, onData });
  useResumeClientTools({
    chat,
    toolHandlers: {
      edit: async (input: { text: string }, { abortSignal }) => [input, abortSignal],
    },
  });
  const { setMessages } = chat;
  useResumableChat(data, { snapshotUrl: '/api/chat/s1/snapshot', setMessages });
  useAutoResync<MessageOf7>({ snapshotUrl: '/api/chat/s1/snapshot', setMessages });
  useStreamResync(data, ({ data: { reason } }) => reason);
}

type Typed = MessageOf7<
  { note: string },
  { note: { text: string } },
  { edit: { input: { text: string }; output: string } }
>;

export function useTyped(): void {
  const chat = useHelixChat<Typed>({
    id: 's1',
    transport: createResumableChatTransport(),
    toolHandlers: { edit: (input) => String(input) },
    onClientToolError: (_error, { toolName }) => toolName,
  });
  void chat.addToolOutput({ tool: 'edit', toolCallId: 'c1', output: 'done' });
  void chat.retry();
  useResumeClientTools({ chat, toolHandlers: {} });
}

const transports = {
  resumable: createResumableChatTransport({ api: '/api/chat', headers: () => ({ a: 'b' }) }),
  agent: createHelixChatTransport({ endpoint: '/api/agent', sessionId: 's1', agentType: 'lab' }),
};

it('chats of both majors accept our transports and predicates', async () => {
  const sendAutomaticallyWhen = createHelixSendAutomaticallyWhen();
  const of6 = new ChatOf6<MessageOf6>({ transport: transports.resumable, sendAutomaticallyWhen });
  const of7 = new ChatOf7<MessageOf7>({ transport: transports.agent, sendAutomaticallyWhen });
  const isRebuilt = await rebuildReply<MessageOf6>(
    of6,
    (messages) => (of6.messages = messages),
    () => Promise.resolve({ messages: [{ id: 'u1', role: 'user', parts: [] }], status: 'ended' }),
  );
  expect([isRebuilt, of6.messages.length, of7.status]).toEqual([true, 1, 'ready']);
});

it('a chat that became busy meanwhile is not rebuilt', async () => {
  const resumeStream = () => Promise.resolve();
  const chat = { id: 's1', status: 'streaming', clearError: () => undefined, resumeStream };
  const setMessages = jest.fn();
  const load = () => Promise.resolve({ messages: [], status: 'active' as const });
  expect(await rebuildReply(chat, setMessages, load)).toBe(false);
  expect(setMessages).not.toHaveBeenCalled();
});

it("a request's own body counts before that of its transport", async () => {
  let sent = '';
  const transport = createResumableChatTransport({
    api: 'https://chat.test',
    body: { agent: 'lab', data: 1 },
    fetch: (_url, init) => {
      sent = init?.body as string;
      return Promise.resolve(new Response('no', { status: 400 }));
    },
  });
  const message = { id: 'u1', role: 'user' as const, parts: [] };
  const request = { chatId: 's1', messages: [message], body: { agent: 'other' } };
  const more = { trigger: 'submit-message', messageId: undefined, abortSignal: undefined } as const;
  await expect(transport.sendMessages({ ...request, ...more })).rejects.toThrow();
  expect(JSON.parse(sent)).toMatchObject({ agent: 'other', data: 1 });
});
