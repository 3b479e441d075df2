import { useChat } from '@ai-sdk/react';
import { createHelixChatHook } from './create-helix-chat-hook.js';

/**
 * `useChat` with everything that client tools, approvals and broken connections need: answers are posted
 * once, tools with a handler are carried out, and a reply that had to be taken back is loaded again.
 */
export const useHelixChat = createHelixChatHook(useChat);
