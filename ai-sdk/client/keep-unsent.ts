import { isAnswered, isToolCall, toNewestStep, type ChatMessage } from './chat-message.js';

const OPEN = new Set(['input-available', 'approval-requested']);

/**
 * The server's messages, with the two things that may exist on the page only: answers to calls that the
 * server still asks for, and a last message that the server has not accepted.
 */
export function keepUnsent<M extends ChatMessage>(server: readonly M[], local: readonly M[]): M[] {
  const [newest] = server.slice(-1);
  const last = local.at(-1);
  const kept = server.map((message) =>
    message === newest && last !== undefined ? keepAnswers(message, last) : message,
  );
  return last !== undefined && isUnsent(server, last) ? [...kept, last] : kept;
}

/** True for a user's message that the server does not have. */
function isUnsent(server: readonly ChatMessage[], message: ChatMessage): boolean {
  return message.role === 'user' && server.every(({ id }) => id !== message.id);
}

function keepAnswers<M extends ChatMessage>(server: M, local: M): M {
  const answers = new Map(
    toNewestStep(local)
      .parts.filter(isToolCall)
      .filter((part) => part.providerExecuted !== true && isAnswered(part))
      .map((part) => [part.toolCallId, part]),
  );
  const isAskedFor = (part: { type: string }): boolean =>
    isToolCall(part) && part.providerExecuted !== true && OPEN.has(part.state);
  if (answers.size === 0 || !server.parts.some(isAskedFor)) return server;
  const parts = server.parts.map((part) =>
    isToolCall(part) && isAskedFor(part) ? (answers.get(part.toolCallId) ?? part) : part,
  );
  return { ...server, parts };
}
