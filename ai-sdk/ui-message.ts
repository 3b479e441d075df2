/** A UI message as `useChat({ messages })` takes it: the same shape that the live stream builds. */
export interface UIMessage {
  id: string;
  role: 'user' | 'assistant' | 'system';
  parts: UIMessagePart[];
  metadata?: Record<string, unknown>;
}

export type UIMessagePart =
  | { type: 'step-start' }
  | { type: 'text'; text: string; state?: 'done' }
  | { type: 'reasoning'; id: string; text: string; state: 'done' }
  | { type: 'file'; url: string; mediaType: string; filename?: string }
  | UISourcePart
  /** What a tool said beside its result; `data-output` is the result of an agent that has an output schema. */
  | { type: `data-${string}`; data: unknown }
  | UIToolPart;

/** Where a model has something from: the same in the stream and in a message. */
export type UISourcePart =
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | {
      type: 'source-document';
      sourceId: string;
      mediaType: string;
      title: string;
      filename?: string;
    };

/** A tool call. `input`, `output` and `errorText` are there when the state says so. */
export interface UIToolPart {
  type: 'dynamic-tool';
  toolName: string;
  toolCallId: string;
  state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  input: unknown;
  output?: unknown;
  errorText?: string;
  /** True for calls that the server makes without asking. */
  providerExecuted?: true;
  approval?: UIApproval;
}

export interface UIApproval {
  id: string;
  approved?: boolean;
  reason?: string;
  /** Extension: what a person changed the input to, and who did. */
  input?: unknown;
  by?: string;
}
