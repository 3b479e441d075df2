import {
  clientCallsOf,
  isAnswered,
  isSettled,
  lastReplyOf,
  toNewestStep,
  type ChatMessage,
} from './chat-message.js';

/** Decides whether a chat posts without a click: true once for each set of answers. */
export interface SendAutomaticallyWhen {
  (conversation: { messages: readonly ChatMessage[] }): boolean;
  /** Forgets a call's lost answer so that it can be sent again. Without an id it forgets all answers. */
  forget: (toolCallId?: string) => void;
}

/**
 * Makes a `sendAutomaticallyWhen` for one chat. It returns true if every question of the newest
 * step is answered and an answer is new; chats ask again after each response, and get false. Keep
 * it as long as the chat, since it remembers the sent answers.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { createHelixSendAutomaticallyWhen } from 'helix-temporal/ai-sdk';
 *
 * const sendAutomaticallyWhen = createHelixSendAutomaticallyWhen();
 *
 * export function Chat() {
 *   const { messages } = useChat({ sendAutomaticallyWhen });
 *   return <p>{messages.length} messages</p>;
 * }
 */
export function createHelixSendAutomaticallyWhen(): SendAutomaticallyWhen {
  const sent = new Set<string>();
  const when = ({ messages }: { messages: readonly ChatMessage[] }): boolean => {
    const answered = findAnswered(messages);
    if (answered === undefined || answered.every((id) => sent.has(id))) return false;
    for (const id of answered) sent.add(id);
    return true;
  };
  const forget = (toolCallId?: string): void => {
    if (toolCallId === undefined) sent.clear();
    else sent.delete(toolCallId);
  };
  return Object.assign(when, { forget });
}

/** Returns the ids of the newest step's answered calls; undefined while a call is open. */
export function findAnswered(messages: readonly ChatMessage[]): string[] | undefined {
  const reply = lastReplyOf(messages);
  const calls = reply === undefined ? [] : clientCallsOf(toNewestStep(reply));
  if (!calls.every(isSettled)) return undefined;
  const answered = calls.filter(isAnswered);
  return answered.length > 0 ? answered.map(({ toolCallId }) => toolCallId) : undefined;
}
