import { z } from 'zod';
import { BusyPolicy, type QueueMode } from './busy.js';
import { LIMITS } from './limits.js';
import type { RunStatus } from './run.js';

export { HEADERS } from './headers.js';

/** HTTP shapes: request bodies as stock AI SDK clients send them, replies as the API gives them. */

/** A UI message as a client posts it. Parts are looked at one by one, since only the tail is used. */
export const PostedMessage = z.object({
  id: z.string().min(1).max(LIMITS.idChars),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(z.looseObject({ type: z.string() })).optional(),
  content: z.string().optional(),
  metadata: z.unknown().optional(),
});
export type PostedMessage = z.infer<typeof PostedMessage>;

export const ChatRequest = z
  .object({
    id: z.string().optional(),
    messages: z.array(PostedMessage).optional(),
    message: PostedMessage.optional(),
    trigger: z.string().optional(),
    messageId: z.string().optional(),
    agent: z.string().optional(),
    /** What becomes of the message while a run is at work. */
    busy: BusyPolicy.optional(),
  })
  .refine((body) => body.messages !== undefined || body.message !== undefined, {
    message: 'messages or message is required',
    path: ['messages'],
  });
export type ChatRequest = z.infer<typeof ChatRequest>;

export const StopBody = z
  .object({
    mode: z.enum(['interrupt', 'abort']).default('interrupt'),
    reason: z.string().max(LIMITS.errorTextBytes).optional(),
  })
  .prefault({});
export type StopBody = z.infer<typeof StopBody>;

/** Which turn is done again, or from which checkpoint on; by default the newest turn. */
export const RetryBody = z
  .object({
    checkpointId: z.string().min(1).max(LIMITS.idChars).optional(),
    messageId: z.string().min(1).max(LIMITS.idChars).optional(),
  })
  .refine((body) => body.checkpointId === undefined || body.messageId === undefined, {
    message: 'give checkpointId or messageId, not both',
  })
  .prefault({});
export type RetryBody = z.infer<typeof RetryBody>;

/** How much of a conversation is copied, by default everything; and the id of the copy. */
export const BranchBody = z
  .object({
    checkpointId: z.string().min(1).max(LIMITS.idChars).optional(),
    messageIndex: z.int().nonnegative().optional(),
    sessionId: z.string().optional(),
  })
  .refine((body) => body.checkpointId === undefined || body.messageIndex === undefined, {
    message: 'give checkpointId or messageIndex, not both',
  })
  .prefault({});
export type BranchBody = z.infer<typeof BranchBody>;

export const CheckpointQuery = z.object({
  limit: z.coerce.number().int().positive().optional(),
  cursor: z.string().optional(),
});
export type CheckpointQuery = z.infer<typeof CheckpointQuery>;

/** Which part of a conversation, counted in messages as people see them, oldest first. */
export const MessagesQuery = z.object({
  /** Index of the first message. */
  offset: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(LIMITS.messagePage).default(50),
});
export type MessagesQuery = z.infer<typeof MessagesQuery>;

/** Body of `GET /api/chat/:sessionId/messages`. */
export interface MessagesReply<M = unknown> {
  messages: M[];
  /** True if others follow. */
  hasMore: boolean;
}

/** An answer to a pending call, given outside of the chat. */
export const AnswerBody = z.union([
  z.strictObject({
    approved: z.boolean(),
    reason: z.string().optional(),
    input: z.unknown().optional(),
  }),
  z
    .strictObject({ result: z.unknown() })
    .refine((body) => 'result' in body, { message: 'approved, result or error is required' }),
  z.strictObject({ error: z.string() }),
]);
export type AnswerBody = z.infer<typeof AnswerBody>;

export const ExtendBody = z.object({ byMs: z.int().positive().max(LIMITS.deadlineAheadMs) });
export type ExtendBody = z.infer<typeof ExtendBody>;

/** A call that waits for a person or a page. */
export interface PendingQuestion {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  input: unknown;
  approvalId?: string;
  /** ms since the epoch by the store's clock; absent if there is no hurry. */
  deadline?: number;
}

/** Which page of the sessions that wait for people; a page has 20 unless `limit` says otherwise. */
export const WaitingQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.waitingSessions).default(20),
  cursor: z
    .string()
    .max(2 * LIMITS.idChars)
    .optional(),
});
export type WaitingQuery = z.infer<typeof WaitingQuery>;

/** A session that waits for people. */
export interface WaitingSession {
  sessionId: string;
  agent: string;
  run: { runId: string; status: RunStatus };
  /** When its newest question was asked, ms since the epoch. */
  since: number;
  /** The earliest deadline of its questions, ms since the epoch by the store's clock. */
  deadline?: number;
  pending: PendingQuestion[];
}

/** Body of `GET /api/sessions`; those first that have waited longest. */
export interface WaitingSessions {
  sessions: WaitingSession[];
  /** Pass on to read on; absent on the last page. */
  cursor?: string;
}

/** Body of `GET /api/sessions/:sessionId/pending`. */
export interface SessionPending {
  sessionId: string;
  run: { runId: string; status: RunStatus };
  pending: PendingQuestion[];
}

/** Another text for a message that waits. */
export const QueueEdit = z.object({
  id: z.string().min(1).max(LIMITS.idChars),
  text: z.string().min(1),
});
export type QueueEdit = z.infer<typeof QueueEdit>;

/** Messages that wait for their turn, as one entry. */
export interface QueuedMessages<M = unknown> {
  /** Id of its first message. */
  id: string;
  mode: QueueMode;
  messages: M[];
  /** ms since the epoch. */
  queuedAt: number;
  by?: string;
}

/** Body of every reply about the queue. */
export interface QueueReply<M = unknown> {
  /** In the order in which they are answered. */
  queue: QueuedMessages<M>[];
}

/** Body of every refusal. */
export interface ProblemBody {
  error: string;
  code: string;
  detail?: unknown;
}

/** What a page needs to start: history, and where the stream stands. */
export interface FrontendSnapshot<M = unknown> {
  /** The agent's own state at `streamSequence`; null if it has none. */
  state: Record<string, unknown> | null;
  messages: M[];
  streamSequence: number;
  status: 'active' | 'paused' | 'ended' | 'failed';
  checkpointId: string | null;
  timestamp: number;
  startSequence?: number;
  existingMessageId?: string;
  /** Extension: what people are asked, with the time they have. */
  pending?: PendingQuestion[];
  /** Extension: the newest run, for links to the Temporal UI. `stalled`: it has long written nothing. */
  run?: { runId: string; status: RunStatus; stalled?: boolean };
  /** Extension: messages that wait for their turn. */
  queue?: QueuedMessages<M>[];
}
