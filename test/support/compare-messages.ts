import type { UIMessage } from 'ai';
import { isCall, loadSnapshot, type ChatClient } from './chat-client.js';

/**
 * What must be the same live, after a reload and in the store. Left out is what clients keep for
 * themselves: whether a block still streams, the raw text of arguments, what became of an answer,
 * and the closing step that stops them from posting again.
 */
export function toComparable(messages: readonly UIMessage[]): unknown {
  return messages.map(({ id, role, parts }) => {
    const kept = parts.map((part) => {
      const isBlock = part.type === 'text' || part.type === 'reasoning';
      const own = isBlock ? ['id', 'state'] : ['approval', 'rawInput'];
      const shown = Object.entries(part).filter(([key]) => !own.includes(key));
      return Object.fromEntries([...shown, ...toOpenQuestion(part)]);
    });
    while (kept.at(-1)?.['type'] === 'step-start') kept.pop();
    return { id, role, parts: kept };
  });
}

/** What an answer has to name. */
function toOpenQuestion(part: UIMessage['parts'][number]): [string, unknown][] {
  const isOpen = isCall(part) && part.state === 'approval-requested';
  return isOpen ? [['approvalId', part.approval.id]] : [];
}

/** The page shows what is stored, and one message for each turn of each side. */
export async function expectStoredAsShown(
  client: ChatClient,
  url: string,
  sessionId: string,
): Promise<void> {
  const { messages } = await loadSnapshot(url, sessionId);
  expect(toComparable(client.messages())).toEqual(toComparable(messages));
  expectAlternating(messages);
}

export function expectAlternating(messages: readonly UIMessage[]): void {
  const roles = messages.map(({ role }) => role);
  expect(roles).toEqual(roles.map((_role, index) => (index % 2 === 0 ? 'user' : 'assistant')));
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
}
