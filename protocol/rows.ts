import { z } from 'zod';
import { Interruption } from './interruption.js';

/**
 * Transcript rows: what a session remembers, in the order in which the model is told. Rows are
 * immutable once stored; a row's index in the session never changes.
 */
const ProviderMetadata = z.record(z.string(), z.record(z.string(), z.unknown()));

export const UserPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    url: z.string(),
    mediaType: z.string(),
    filename: z.string().optional(),
  }),
]);
export type UserPart = z.infer<typeof UserPart>;

export const UserRow = z.object({
  role: z.literal('user'),
  /** Id of the UI message; the client's own. */
  id: z.string(),
  parts: z.array(UserPart),
  metadata: z.record(z.string(), z.unknown()).optional(),
  /** Sent to the model, not shown. */
  hidden: z.boolean().optional(),
});
export type UserRow = z.infer<typeof UserRow>;

export const AssistantPart = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text'),
    text: z.string(),
    providerMetadata: ProviderMetadata.optional(),
  }),
  z.object({
    type: z.literal('reasoning'),
    text: z.string(),
    providerMetadata: ProviderMetadata.optional(),
  }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.unknown(),
    kind: z.enum(['server', 'approval', 'client', 'subagent']),
    /** Present on calls that a person approves. */
    approvalId: z.string().optional(),
    /** Shown by a row of its own, once people are asked. */
    held: z.boolean().optional(),
    /** Shown when its step was stored, not before, and so behind the step's other parts. */
    late: z.boolean().optional(),
    providerMetadata: ProviderMetadata.optional(),
  }),
  z.object({
    type: z.literal('source-url'),
    sourceId: z.string(),
    url: z.string(),
    title: z.string().optional(),
  }),
  z.object({
    type: z.literal('source-document'),
    sourceId: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().optional(),
  }),
  z.object({ type: z.literal('file'), url: z.string(), mediaType: z.string() }),
]);
export type AssistantPart = z.infer<typeof AssistantPart>;

/** One step's reply. */
export const AssistantRow = z.object({
  role: z.literal('assistant'),
  /** Id of the UI message, shared by all steps of a turn. */
  messageId: z.string(),
  runId: z.string(),
  step: z.number(),
  parts: z.array(AssistantPart),
  /** The reply was cut: by a stop or by a failure. */
  interrupted: Interruption.optional(),
  /** What the run came to: in a row without parts, at its end. */
  output: z.unknown().optional(),
  /** For history only: what the run came to, or calls that people were asked about together, those of
   *  sub-agents among them. */
  display: z.boolean().optional(),
  /** Of such a row: its place among what calls say beside their results. */
  sequence: z.number().optional(),
});
export type AssistantRow = z.infer<typeof AssistantRow>;

/** The way an answer came, unless over HTTP: an operator's update in Temporal, whose `by` is their own word. */
export const AnswerWay = z.enum(['temporal']);
export type AnswerWay = z.infer<typeof AnswerWay>;

/** Who decided about an approval, and how. */
export const Decision = z.object({
  approved: z.boolean(),
  reason: z.string().optional(),
  by: z.string().optional(),
  via: AnswerWay.optional(),
  at: z.number(),
  /** What the person changed the input to; the model is told. */
  input: z.unknown().optional(),
  /** True when nobody was asked, or nobody answered in time: the tool's own rule decided. */
  automatic: z.boolean().optional(),
});
export type Decision = z.infer<typeof Decision>;

/** What a tool said beside its result, and its place in the stream. */
export const CallEvent = z.object({
  sequence: z.number(),
  chunk: z.object({ eventName: z.string(), data: z.unknown() }),
});
export type CallEvent = z.infer<typeof CallEvent>;

/** The one result of a call: exactly one of output, error or denied. */
export const ToolRow = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  toolName: z.string(),
  output: z.unknown().optional(),
  error: z.string().optional(),
  errorCode: z.string().optional(),
  /** The person said no. */
  denied: z.boolean().optional(),
  /** For history only: the result of a sub-agent's call. */
  display: z.boolean().optional(),
  decision: Decision.optional(),
  /** Of a client tool's result. */
  via: AnswerWay.optional(),
  /** For history only. */
  events: z.array(CallEvent).optional(),
});
export type ToolRow = z.infer<typeof ToolRow>;

export const Row = z.discriminatedUnion('role', [UserRow, AssistantRow, ToolRow]);
export type Row = z.infer<typeof Row>;
