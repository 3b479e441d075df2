import { useChat } from '@ai-sdk/react';
import { createHelixChatHook, type UseHelixChat } from './create-helix-chat-hook.js';

/**
 * Adds client tools, approvals and recovery from dropped connections to `useChat`: answers are
 * posted once, tools with a handler are carried out, and a withdrawn reply is loaded again.
 *
 * @example
 * import { createResumableChatTransport } from 'helix-temporal/ai-sdk/client';
 * import { useHelixChat } from 'helix-temporal/ai-sdk/react';
 *
 * const transport = createResumableChatTransport({ api: '/api/chat' });
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages, sendMessage } = useHelixChat({
 *     id,
 *     transport,
 *     resume: true,
 *     toolHandlers: { getLocation: () => ({ city: 'Rome' }) },
 *   });
 *   return <button onClick={() => void sendMessage({ text: 'Hello' })}>{messages.length}</button>;
 * }
 */
// An inferred type would name `ai`, which need not be the page's copy here.
export const useHelixChat: UseHelixChat = createHelixChatHook(useChat);
