import { useChat } from '@ai-sdk/react';
import { createHelixChatHook, type UseHelixChat } from './create-helix-chat-hook.js';

/**
 * `useChat` with everything that client tools, approvals and broken connections need: answers are posted
 * once, tools with a handler are carried out, and a reply that had to be taken back is loaded again.
 */
// Its type has a name: one that is inferred would name `ai`, which need not be the page's copy here.
export const useHelixChat: UseHelixChat = createHelixChatHook(useChat);
