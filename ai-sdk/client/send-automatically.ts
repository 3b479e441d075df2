import { clientCallsOf, isAnswered, isSettled, lastReplyOf, toNewestStep } from './chat-message.js';
import type { ChatMessage } from './chat-message.js';

/** Says whether a chat should post by itself: true once for each set of answers. */
export interface SendAutomaticallyWhen {
  (conversation: { messages: readonly ChatMessage[] }): boolean;
  /**
   * Lets an answer count once more: it did not get through, and the call was shown as open again.
   * Without an id, every answer.
   */
  forget: (toolCallId?: string) => void;
}

/**
 * Makes a `sendAutomaticallyWhen` for one chat. It says yes when everything that the newest step asks
 * the page and its people is answered, and one of the answers is new; a chat that is asked again at the
 * end of the response is told no, whatever that response was. Keep it as long as the chat: it remembers.
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

/** Ids of the calls that were answered in the newest step; undefined while one of its calls is open. */
export function findAnswered(messages: readonly ChatMessage[]): string[] | undefined {
  const reply = lastReplyOf(messages);
  const calls = reply === undefined ? [] : clientCallsOf(toNewestStep(reply));
  if (!calls.every(isSettled)) return undefined;
  const answered = calls.filter(isAnswered);
  return answered.length > 0 ? answered.map(({ toolCallId }) => toolCallId) : undefined;
}
