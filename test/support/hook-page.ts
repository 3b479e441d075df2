import { useChat as useChatOf7, type UIMessage } from '@ai-sdk/react';
import { useChat as useChatOf6 } from 'ai-sdk-react-v6';
import { createResumableChatTransport } from '../../ai-sdk/client/index.js';
import {
  createHelixChatHook,
  type UseHelixChatHelpers,
  type UseHelixChatOptions,
} from '../../ai-sdk/react/index.js';
import { loadSnapshot, textOf } from './chat-client.js';
import { renderHook, untilShown } from './render-hook.js';
import { until } from './until.js';

type HelixHook = ReturnType<typeof createHelixChatHook>;

/** The hook on `useChat` of both majors. */
export const HOOKS: readonly [name: string, useHelixChat: HelixHook][] = [
  ['useChat of 3', createHelixChatHook(useChatOf6 as unknown as typeof useChatOf7)],
  ['useChat of 4', createHelixChatHook(useChatOf7)],
];

/** A page that shows one conversation through the hook, on the transport that reconnects. */
export interface HookPage {
  readonly chat: UseHelixChatHelpers<UIMessage>;
  /** Methods of the chat's requests, without snapshots and leases. */
  readonly requests: string[];
  readonly leases: string[];
  /** Messages as a page stores them, without keys whose value is undefined. */
  messages: () => UIMessage[];
  /** Text of the newest message; empty if it is not the agent's. */
  reply: () => string;
  rests: () => Promise<void>;
  close: () => void;
}

export interface HookPageOptions extends Pick<
  UseHelixChatOptions<UIMessage>,
  | 'toolHandlers'
  | 'onClientToolError'
  | 'lease'
  | 'pending'
  | 'resume'
  | 'eventsUrl'
  | 'resumeFromSequence'
> {
  messages?: UIMessage[];
  url: string;
  sessionId: string;
  isStrict?: boolean;
  longestSilenceMs?: number;
  /** Default: the network. */
  send?: typeof globalThis.fetch;
}

export async function openHookPage(
  useHelixChat: HelixHook,
  { url, sessionId, isStrict = false, longestSilenceMs, send, ...options }: HookPageOptions,
): Promise<HookPage> {
  const requests: string[] = [];
  const leases: string[] = [];
  const transport = createResumableChatTransport({
    api: `${url}/api/chat`,
    body: { agent: 'lab' },
    retryDelayMs: () => 50,
    longestSilenceMs,
    fetch: (input, init) => {
      if ((input as string).endsWith('/lease')) leases.push(input as string);
      else if (init?.cache !== 'no-store') requests.push(init?.method ?? 'GET');
      if (requests.length > 300) throw new Error('the page asks without end');
      return (send ?? globalThis.fetch)(input, init);
    },
  });
  const hook = renderHook(() => useHelixChat({ id: sessionId, transport, ...options }), undefined, {
    isStrict,
  });
  await untilShown(hook);
  return {
    get chat() {
      return hook.current;
    },
    requests,
    leases,
    messages: () => JSON.parse(JSON.stringify(hook.current.messages)) as UIMessage[],
    reply: () => {
      const last = hook.current.messages.at(-1);
      return last?.role === 'assistant' ? textOf(last) : '';
    },
    rests: async () => {
      let rested = 0;
      await until('the page rests', async () => {
        const before = requests.length;
        await fetch(`${url}/healthz`).then((response) => response.arrayBuffer());
        const { status } = hook.current;
        const isBusy = status === 'submitted' || status === 'streaming';
        rested = isBusy || requests.length > before ? 0 : rested + 1;
        return rested === 3;
      });
    },
    close: hook.unmount,
  };
}

/** Loads the page again: from the snapshot, following the active turn. */
export async function loadHookPage(
  useHelixChat: HelixHook,
  options: HookPageOptions,
): Promise<HookPage> {
  const { messages, status, pending, streamSequence } = await loadSnapshot(
    options.url,
    options.sessionId,
  );
  return openHookPage(useHelixChat, {
    ...options,
    messages,
    resume: status === 'active' || status === 'paused',
    pending,
    resumeFromSequence: streamSequence,
  });
}
