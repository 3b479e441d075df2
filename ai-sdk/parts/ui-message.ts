import type { ShownMetadata } from '../../protocol/chunk.js';
import type { FrontendSnapshot as SnapshotOf } from '../../protocol/replies.js';

/** The history and stream position with which a page starts. `State` is the agent's own. */
export type FrontendSnapshot<State = Record<string, unknown>, Message = UIMessage> = SnapshotOf<
  State,
  Message
>;

/** Metadata from the model's provider. (Not an interface: a part has to fit any object.) */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type OfProvider = { providerMetadata?: ShownMetadata | undefined };

/** A UI message as `useChat({ messages })` takes it: the same shape that the live stream builds. */
export interface UIMessage {
  id: string;
  role: 'user' | 'assistant' | 'system';
  parts: UIMessagePart[];
  metadata?: Record<string, unknown>;
}

export type UIMessagePart =
  | { type: 'step-start' }
  | ({ type: 'text'; text: string; state?: 'done' } & OfProvider)
  | ({ type: 'reasoning'; id: string; text: string; state: 'done' } & OfProvider)
  | ({ type: 'file'; url: string; mediaType: string; filename?: string } & OfProvider)
  | UISourcePart
  /** A custom event of a tool; `data-output` is the result of an agent with an output schema. */
  | { type: `data-${string}`; id?: string | undefined; data: unknown }
  | UIToolPart;

/** A source that a model used, the same in the stream and in a message. */
export type UISourcePart = OfProvider &
  (
    | { type: 'source-url'; sourceId: string; url: string; title?: string }
    | {
        type: 'source-document';
        sourceId: string;
        mediaType: string;
        title: string;
        filename?: string;
      }
  );

/** A tool call, as in the AI SDK's own type; a call that a page carries out is `tool-<name>`. */
export type UIToolPart = (
  { type: 'dynamic-tool'; toolName: string } | { type: `tool-${string}` }
) & {
  toolCallId: string;
  input: unknown;
  /** True for calls that the server executes without an approval. */
  providerExecuted?: true;
  callProviderMetadata?: ShownMetadata;
} & UIToolState;

export type UIToolState =
  | { state: 'input-available'; output?: never; errorText?: never; approval?: never }
  | {
      state: 'approval-requested';
      output?: never;
      errorText?: never;
      approval: { id: string; approved?: never; reason?: never };
    }
  | { state: 'approval-responded'; output?: never; errorText?: never; approval: UIApproval }
  | { state: 'output-available'; output: unknown; errorText?: never; approval?: UIApproval<true> }
  | { state: 'output-error'; output?: never; errorText: string; approval?: UIApproval<true> }
  | { state: 'output-denied'; output?: never; errorText?: never; approval: UIApproval<false> };

export interface UIApproval<Approved extends boolean = boolean> {
  id: string;
  approved: Approved;
  reason?: string;
  /** Extension: the changed input and the person who changed it. */
  input?: unknown;
  by?: string;
}

export function isToolPart(part: UIMessagePart): part is UIToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

export function toolNameOf({ type, toolName }: { type: string; toolName?: string }): string {
  return toolName ?? type.slice('tool-'.length);
}
