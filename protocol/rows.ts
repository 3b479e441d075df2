import { z } from 'zod';
import { FinishReason, Interruption, Usage } from './chunk.js';
import { parseFileUrl } from './ids.js';

/**
 * Transcript rows: a session's memory, in the order in which the model gets it. Stored rows are
 * immutable, and the index of a row never changes.
 */
export const ProviderMetadata = z.record(z.string(), z.record(z.string(), z.unknown()));

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const FilePart = z.object({
  type: z.literal('file'),
  url: z.string(),
  mediaType: z.string(),
  filename: z.string().optional(),
});
export const PostedPart = z.discriminatedUnion('type', [TextPart, FilePart]);

const ofProgram = { providerOptions: ProviderMetadata.optional() };

export const UserPart = z.discriminatedUnion('type', [
  TextPart.extend(ofProgram),
  FilePart.extend(ofProgram),
]);
export type UserPart = z.infer<typeof UserPart>;

/** A page's own part of a user message; models never get it. */
export const UserDataPart = z.object({
  /** Number of the row's other parts before it. */
  at: z.number(),
  type: z.templateLiteral(['data-', z.string()]),
  id: z.string().optional(),
  data: z.unknown(),
});
export type UserDataPart = z.infer<typeof UserDataPart>;

export const UserRow = z.object({
  role: z.literal('user'),
  /** Id of the UI message, chosen by the client. */
  id: z.string(),
  parts: z.array(UserPart),
  data: z.array(UserDataPart).optional(),
  ...ofProgram,
  metadata: z.record(z.string(), z.unknown()).optional(),
  hidden: z.boolean().optional(),
  /** True if its content replaced an earlier message of this id. */
  edited: z.boolean().optional(),
});
export type UserRow = z.infer<typeof UserRow>;

/** Model content that pages never show, and that goes back to its provider. */
export const UnseenContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('custom'), kind: z.templateLiteral([z.string(), '.', z.string()]) }),
  z.object({ type: z.literal('reasoning-file'), url: z.string(), mediaType: z.string() }),
]);
export type UnseenContent = z.infer<typeof UnseenContent>;

function part<T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  const marks = { providerMetadata: ProviderMetadata.optional() };
  return z.object({ type: z.literal(type), ...shape, ...marks });
}

export const AssistantPart = z.discriminatedUnion('type', [
  part('text', { text: z.string() }),
  part('reasoning', {
    text: z.string(),
    /** Content that only the model's provider reads; the text is then empty. */
    stands: UnseenContent.optional(),
  }),
  part('tool-call', {
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.unknown(),
    /** `provider`: the model's provider executes it, and a reply has the result as a part. */
    kind: z.enum(['server', 'approval', 'client', 'subagent', 'provider']),
    /** Set on calls that a person approves. */
    approvalId: z.string().optional(),
    /** True if another row shows the call once people are asked. */
    held: z.boolean().optional(),
    /** True if the part was shown only when its step was stored, behind the step's other parts. */
    late: z.boolean().optional(),
    /** True if pages execute the call, and name the part's type after the tool. */
    byClient: z.boolean().optional(),
    /** True if the call was settled from the start, by an error; pages get no metadata of it. */
    closed: z.boolean().optional(),
  }),
  /** Result of a call that the provider executes; it may come in a later reply than the call. */
  part('tool-result', {
    toolCallId: z.string(),
    toolName: z.string(),
    output: z.unknown(),
    isError: z.boolean().optional(),
  }),
  part('source-url', { sourceId: z.string(), url: z.string(), title: z.string().optional() }),
  part('source-document', {
    sourceId: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().optional(),
  }),
  part('file', { url: z.string(), mediaType: z.string() }),
]);
export type AssistantPart = z.infer<typeof AssistantPart>;

const Model = z.object({ provider: z.string(), modelId: z.string() });

/** Limits under which a model accepted a prompt after a refusal; its later prompts keep to them. */
export const Eased = z.object({
  modelId: z.string(),
  chars: z.number().optional(),
  /** True if prompts leave out content that only the provider can read. */
  bare: z.boolean().optional(),
});
export type Eased = z.infer<typeof Eased>;

/** Summary that models get in place of the oldest rows. */
export const Compaction = z.object({
  rows: z.number(),
  summary: z.string(),
});
export type Compaction = z.infer<typeof Compaction>;

/** The model that wrote a reply, and the provider's report of it. */
export const Answered = z.object({
  provider: z.string(),
  modelId: z.string(),
  responseId: z.string().optional(),
  /** The provider's own name of the model. */
  responseModelId: z.string().optional(),
  at: z.number(),
  /** Duration of the reply, ms. */
  ms: z.number().optional(),
  /** Time to the first output, such as text or a call: later than the first part, ms. */
  firstMs: z.number().optional(),
  rawFinishReason: z.string().optional(),
  warnings: z.array(z.unknown()).optional(),
  providerMetadata: ProviderMetadata.optional(),
});
export type Answered = z.infer<typeof Answered>;

export const AssistantRow = z.object({
  role: z.literal('assistant'),
  /** Id of the UI message, shared by all steps of a turn. */
  messageId: z.string(),
  runId: z.string(),
  step: z.number(),
  parts: z.array(AssistantPart),
  interrupted: Interruption.optional(),
  /** The model whose parts other models cannot read. */
  model: Model.optional(),
  eased: Eased.optional(),
  /** Error code with which the provider refused the new content before this row for good. */
  refused: z.string().optional(),
  /** Stored for agents whose own code gets the steps. */
  usage: Usage.optional(),
  finishReason: FinishReason.optional(),
  answered: Answered.optional(),
  /** Made for this step, and used by those that follow. */
  compaction: Compaction.optional(),
  /** The result of the run, in a row without parts at its end. */
  output: z.unknown().optional(),
  /**
   * Only for history: the result of the run, or the calls that people were asked about together,
   * including those of sub-agents.
   */
  display: z.boolean().optional(),
  /** For such a row: its position among the events of calls. */
  sequence: z.number().optional(),
  /** True if its calls join the step before it, where others were still open. */
  joins: z.boolean().optional(),
});
export type AssistantRow = z.infer<typeof AssistantRow>;

/**
 * Channel of an answer that did not come over HTTP: `temporal` is an operator's update, whose `by`
 * is unverified.
 */
export const AnswerWay = z.enum(['temporal']);
export type AnswerWay = z.infer<typeof AnswerWay>;

export const Decision = z.object({
  approved: z.boolean(),
  reason: z.string().optional(),
  by: z.string().optional(),
  via: AnswerWay.optional(),
  at: z.number(),
  /** The input as changed by the person; the model is informed. */
  input: z.unknown().optional(),
  /** Person who changed the input, if another person approved it. */
  inputBy: z.string().optional(),
  /** True if no person decided, or none in time: the tool's own rule applied. */
  automatic: z.boolean().optional(),
});
export type Decision = z.infer<typeof Decision>;

/** An event that a tool emitted besides its result, and its position in the stream. */
export const CallEvent = z.object({
  sequence: z.number(),
  chunk: z.object({ eventName: z.string(), data: z.unknown() }),
});
export type CallEvent = z.infer<typeof CallEvent>;

export const ToolRow = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  toolName: z.string(),
  output: z.unknown().optional(),
  error: z.string().optional(),
  errorCode: z.string().optional(),
  denied: z.boolean().optional(),
  /** Only for history: the result of a sub-agent's call. */
  display: z.boolean().optional(),
  /** True if the call ended the run, so that it has no result. */
  isEnd: z.boolean().optional(),
  decision: Decision.optional(),
  via: AnswerWay.optional(),
  /** Only for history. */
  events: z.array(CallEvent).optional(),
});
export type ToolRow = z.infer<typeof ToolRow>;

export const Row = z.discriminatedUnion('role', [UserRow, AssistantRow, ToolRow]);
export type Row = z.infer<typeof Row>;

export type HelixMessage =
  | { role: 'system'; content: string }
  | {
      role: 'user';
      content: string;
      files?: readonly { url: string; mediaType: string; filename?: string }[];
      metadata?: Record<string, unknown>;
    }
  | {
      role: 'assistant';
      content?: string;
      thinking?: string;
      toolCalls?: readonly { id: string; name: string; arguments: unknown }[];
    }
  /** `content` is the result as JSON, or a text. */
  | { role: 'tool'; toolCallId: string; content: string; error?: string };

/** A message of a conversation, in either form. */
export type Message = Row | HelixMessage;

/** Returns the files that a row names; of a reply only the stored ones, since the provider has the others. */
export function filesOf(row: Row): { url: string; mediaType: string; filename?: string }[] {
  if (row.role === 'tool') return [];
  if (row.role === 'user') return row.parts.flatMap((part) => (part.type === 'file' ? part : []));
  return row.parts.flatMap((part) => {
    const file = part.type === 'reasoning' ? part.stands : part;
    if (file?.type !== 'file' && file?.type !== 'reasoning-file') return [];
    return parseFileUrl(file.url) === undefined ? [] : file;
  });
}
