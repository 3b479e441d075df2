/**
 * Used fields of messages of both AI SDK majors. No file here imports `ai`: a page bundles its own
 * copy.
 */
export interface ChatMessage {
  id: string;
  role: 'system' | 'user' | 'assistant';
  parts: readonly { type: string }[];
  metadata?: unknown;
}

/** A tool call in a message, static (`tool-<name>`) or dynamic. */
export interface ToolCallPart {
  type: string;
  toolCallId: string;
  toolName?: string;
  state: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  preliminary?: boolean;
  providerExecuted?: boolean;
  approval?: { id: string; approved?: boolean; reason?: string };
}

export function isToolCall(part: { type: string }): part is ToolCallPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

/** Returns a message's calls that wait for the page or for people. */
export function clientCallsOf(message: ChatMessage): ToolCallPart[] {
  return message.parts.filter(isToolCall).filter((part) => part.providerExecuted !== true);
}

/** Returns the message from its newest step on. */
export function toNewestStep<M extends ChatMessage>(message: M): M {
  const start = message.parts.findLastIndex(({ type }) => type === 'step-start');
  return { ...message, parts: message.parts.slice(start + 1) };
}

/** Returns true for an answer of a person or the page, false for the server's outcome. */
export function isAnswered(part: ToolCallPart): boolean {
  if (part.state === 'approval-responded') return true;
  return part.approval === undefined && isSettled(part);
}

/** Returns true for a call that asks a person or the page for an answer. */
export function isAsked({ state }: Pick<ToolCallPart, 'state'>): boolean {
  return state === 'input-available' || state === 'approval-requested';
}

/** Returns true if the call needs no answer any more. */
export function isSettled({ state, preliminary }: ToolCallPart): boolean {
  if (state === 'output-available') return preliminary !== true;
  return state === 'output-error' || state === 'output-denied' || state === 'approval-responded';
}

/** Returns the newest message if the agent wrote it. */
export function lastReplyOf<M extends ChatMessage>(messages: readonly M[]): M | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last : undefined;
}
