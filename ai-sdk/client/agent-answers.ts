import type { ChatMessage, ToolCallPart } from './chat-message.js';
import { clientCallsOf, isAnswered, isToolCall, toNewestStep } from './chat-message.js';
import type { CommonStreamPart } from './chat-transport.js';

/** The answers in a message, as `/submit-tool-result` takes them. */
export function toAnswers(message: ChatMessage): { toolCallId: string; body: object }[] {
  return clientCallsOf(toNewestStep(message))
    .filter(isAnswered)
    .map((part) => ({ toolCallId: part.toolCallId, body: toAnswer(part) }));
}

function toAnswer({ toolCallId, state, approval, output, errorText }: ToolCallPart): object {
  if (state === 'approval-responded' && approval !== undefined) {
    const { id: approvalId, approved = false, reason } = approval;
    return { kind: 'approval-response', toolCallId, approvalId, approved, reason };
  }
  const kind = 'client-tool-result';
  if (state === 'output-error') return { kind, toolCallId, error: errorText ?? '' };
  return { kind, toolCallId, result: output ?? null };
}

/**
 * A reply that adds nothing, since the run waits for other answers. It must not make a stock chat post again,
 * and must not keep it from posting the next answer.
 */
export function toWaitingReply(message: ChatMessage): CommonStreamPart[] {
  const { parts } = toNewestStep(message);
  const isOpen = parts.some((part) => isToolCall(part) && OPEN.has(part.state));
  const guard: CommonStreamPart[] = isOpen
    ? [{ type: 'message-metadata', messageMetadata: null }]
    : [
        { type: 'start-step' },
        { type: 'message-metadata', messageMetadata: {} },
        { type: 'finish-step' },
      ];
  const start: CommonStreamPart = { type: 'start', messageId: message.id };
  return [start, ...guard, { type: 'finish', finishReason: 'tool-calls' }];
}

const OPEN = new Set(['input-streaming', 'input-available', 'approval-requested']);

/** The user's messages since the last reply, as `/start` takes them. */
export function toUserMessages(messages: readonly ChatMessage[]): object[] {
  const start = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  return messages.slice(start).map(({ id, parts, metadata }) => ({
    id,
    parts: parts.filter(isSent),
    metadata: metadata ?? undefined,
  }));
}

/** Text, files and the page's own parts. JSON has no `undefined`: such a part says nothing. */
function isSent(part: ChatMessage['parts'][number]): boolean {
  if (part.type.startsWith('data-')) return 'data' in part && part.data !== undefined;
  return part.type === 'text' || part.type === 'file';
}
