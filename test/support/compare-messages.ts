import type { UIMessage } from 'ai';
import { isCall, loadSnapshot, type ChatClient } from './chat-client.js';

/**
 * Reduces messages to the fields that must agree live, after a reload and in the store. Clients
 * keep the rest for themselves: streaming flags, raw argument text, the fate of an answer, and the
 * closing step that stops them from posting again.
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

/** Returns the id that an answer has to name. */
function toOpenQuestion(part: UIMessage['parts'][number]): [string, unknown][] {
  const isOpen = isCall(part) && part.state === 'approval-requested';
  return isOpen ? [['approvalId', part.approval.id]] : [];
}

/** Expects the page to show what is stored, with one message per side and turn. */
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
