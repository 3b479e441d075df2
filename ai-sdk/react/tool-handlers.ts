import type { ChatMessage } from '../client/chat-message.js';

export interface ToolHandlerContext {
  toolCallId: string;
  /** Fires when the result is not wanted any more: another session, or the page went away. */
  abortSignal: AbortSignal;
}

/** Carries out a client tool. What it returns is the result; what it throws is told to the model. */
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
