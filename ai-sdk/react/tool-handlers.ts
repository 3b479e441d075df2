import type { ChatMessage } from '../client/chat-message.js';

export interface ToolHandlerContext {
  toolCallId: string;
  /** Fires when the result is not needed any more: the page shows another session, or was closed. */
  abortSignal: AbortSignal;
}

/** Carries out a client tool. Its return value is the result; the model gets the message of what it throws. */
export type ToolHandler = {
  // A method: handlers may name the type of the input that their tool has.
  run(input: unknown, context: ToolHandlerContext): unknown;
}['run'];

export type ToolHandlers = Readonly<Record<string, ToolHandler>>;

/** What `useChat` returns, as far as it is used here; of either major. */
export interface ChatWithTools {
  id: string;
  messages: readonly ChatMessage[];
  status: string;
  addToolOutput: (output: never) => unknown;
}

/** What is posted for a call. */
export type ToolOutput = { tool: string; toolCallId: string } & (
  { output: unknown } | { state: 'output-error'; errorText: string }
);
