import { z } from 'zod';
import { BusyPolicy } from './busy.js';
import { HTTP_STATUS, type ErrorCode } from './errors.js';
import { RUN_STATUSES, STREAM_STATUSES } from './run.js';

/** HTTP shapes: replies as the API gives them. */

const RunStatus = z.enum(RUN_STATUSES);
const ms = z.number();

/** Body of every refusal. */
export const ProblemBody = z
  .object({
    /** Safe to show. */
    error: z.string(),
    code: z.enum(Object.keys(HTTP_STATUS) as [ErrorCode, ...ErrorCode[]]),
    detail: z.unknown().optional(),
  })
  .meta({ id: 'ProblemBody' });
export type ProblemBody = z.infer<typeof ProblemBody>;

/** A call that waits for a person or a page. */
export const PendingQuestion = z
  .object({
    toolCallId: z.string(),
    toolName: z.string(),
    kind: z.enum(['approval', 'client']),
    input: z.unknown(),
    approvalId: z.string().optional(),
    /** ms since the epoch by the store's clock; absent if there is no hurry. */
    deadline: ms.optional(),
  })
  .meta({ id: 'PendingQuestion' });
export type PendingQuestion = z.infer<typeof PendingQuestion>;

/** A UI message of the AI SDK, whose own types say what is in it. */
const UIMessage = z
  .looseObject({
    id: z.string(),
    role: z.enum(['system', 'user', 'assistant']),
    parts: z.array(z.looseObject({ type: z.string() })),
    metadata: z.unknown().optional(),
  })
  .meta({ id: 'UIMessage' });

const SessionQuestions = z.object({
  sessionId: z.string(),
  run: z.object({ runId: z.string(), status: RunStatus }),
  pending: z.array(PendingQuestion),
});

/** Body of `GET /api/sessions/:sessionId/pending`. */
export const SessionPending = SessionQuestions.extend({
  /**
   * What the model was told in the turn that asks and the conversation does not show, for people who
   * have to know why they are asked; absent if there is nothing.
   */
  hiddenMessages: z.array(UIMessage).optional(),
});
export type SessionPending<M = unknown> = z.infer<typeof SessionQuestions> & {
  hiddenMessages?: M[];
};

/** A session that waits for people. */
export const WaitingSession = SessionQuestions.extend({
  agent: z.string(),
  /** When its newest question was asked, ms since the epoch. */
  since: ms,
  /** The earliest deadline of its questions, ms since the epoch by the store's clock. */
  deadline: ms.optional(),
});
export type WaitingSession = z.infer<typeof WaitingSession>;

/** Body of `GET /api/sessions`; those first that have waited longest. */
export const WaitingSessions = z.object({
  sessions: z.array(WaitingSession),
  /** Pass on to read on; absent on the last page. */
  cursor: z.string().optional(),
});
export type WaitingSessions = z.infer<typeof WaitingSessions>;

/** Body of `GET /api/conversations`: the caller's, the newest change first. */
export const Conversations = z.object({
  conversations: z.array(
    z.object({
      sessionId: z.string(),
      /** The beginning of its first message. */
      title: z.string(),
      agent: z.string(),
      updatedAt: ms,
      /** Of the newest run. */
      status: RunStatus,
    }),
  ),
  /** Pass on to read on; absent on the last page. */
  cursor: z.string().optional(),
});
export type Conversations = z.infer<typeof Conversations>;

/** Reply of a stop: what became of it, and which run it was for. */
export const StopReply = z.object({
  result: z.enum(['nothing', 'stopping', 'ended']),
  runId: z.string(),
});
export type StopReply = z.infer<typeof StopReply>;

/** Reply to an answer that was taken; with the last one that a run waited for it goes on. */
export const AnswerReply = z.object({
  result: z.literal('stored'),
  sequence: z.number(),
  resumed: z.boolean(),
});
export type AnswerReply = z.infer<typeof AnswerReply>;

export const ExtendReply = z.object({ result: z.literal('extended'), deadline: ms });
export type ExtendReply = z.infer<typeof ExtendReply>;

/** The call is the asker's for so long; if it is not (409 `call_leased`), `detail.forMs` says how long. */
export const LeaseReply = z.object({ result: z.literal('leased'), forMs: z.number() });
export type LeaseReply = z.infer<typeof LeaseReply>;

export const RetryReply = z.object({ runId: z.string() });
export type RetryReply = z.infer<typeof RetryReply>;

export const BranchReply = z.object({ sessionId: z.string() });
export type BranchReply = z.infer<typeof BranchReply>;

/** Where a conversation can go back to, newest first. */
export const CheckpointsReply = z.object({
  checkpoints: z.array(
    z.object({
      id: z.string(),
      runId: z.string(),
      stepCount: z.number(),
      messageCount: z.number(),
      streamSequence: z.number(),
      timestamp: ms,
      stateVersion: z.number(),
    }),
  ),
  /** Pass on to read on; absent on the last page. */
  cursor: z.string().optional(),
});
export type CheckpointsReply = z.infer<typeof CheckpointsReply>;

/** What the page needs to know about this server. */
export const ConfigReply = z.object({
  agents: z.array(z.string()),
  defaultAgent: z.string().nullable(),
  temporalUi: z.string().optional(),
  namespace: z.string(),
});
export type ConfigReply = z.infer<typeof ConfigReply>;

/** What is ready, and what is not. */
export const ReadinessReply = z.object({
  status: z.enum(['ok', 'unavailable']),
  /** The checks that fail; messages are taken without Temporal and workers once these were seen. */
  away: z.array(z.string()).optional(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
});
export type ReadinessReply = z.infer<typeof ReadinessReply>;

/** Body of `GET /api/chat/:sessionId/messages`. */
export const MessagesReply = z.object({
  messages: z.array(UIMessage),
  /** True if others follow. */
  hasMore: z.boolean(),
});
export interface MessagesReply<M = unknown> {
  messages: M[];
  hasMore: boolean;
}

/** Messages that wait for their turn, as one entry. */
export const QueuedMessages = z
  .object({
    /** Id of its first message. */
    id: z.string(),
    mode: BusyPolicy.exclude(['reject']),
    messages: z.array(UIMessage),
    /** ms since the epoch. */
    queuedAt: ms,
    by: z.string().optional(),
  })
  .meta({ id: 'QueuedMessages' });
export type QueuedMessages<M = unknown> = Omit<z.infer<typeof QueuedMessages>, 'messages'> & {
  messages: M[];
};

/** Body of every reply about the queue, in the order in which its messages are answered. */
export const QueueReply = z.object({ queue: z.array(QueuedMessages) });
export interface QueueReply<M = unknown> {
  queue: QueuedMessages<M>[];
}

const RunError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() });

/**
 * The newest run: `error` says why it failed, `stalled` that it has long written nothing, `waitingFor`
 * that the model's provider fails and is asked again by itself.
 */
const NewestRun = z.object({
  runId: z.string(),
  status: RunStatus,
  error: RunError.optional(),
  stalled: z.boolean().optional(),
  waitingFor: z.literal('provider').optional(),
});

/** How a session stands: what `GET /api/chat/:sessionId/events` tells whenever it changes. */
export const SessionEvent = z
  .object({
    sessionId: z.string(),
    /** Of the newest entry at that moment; the event's id, too. */
    sequence: z.number(),
    status: z.enum(STREAM_STATUSES),
    run: NewestRun,
    turn: z.number(),
    /** Of the newest turn's reply. */
    messageId: z.string(),
    pending: z.array(PendingQuestion),
    queue: z.array(QueuedMessages),
  })
  .meta({ id: 'SessionEvent' });
export type SessionEvent<M = unknown> = Omit<z.infer<typeof SessionEvent>, 'queue'> & {
  queue: QueuedMessages<M>[];
};

/** What a page needs to start: history, and where the stream stands. */
export const FrontendSnapshot = z
  .object({
    /** The agent's own state at `streamSequence`; null if it has none. */
    state: z.record(z.string(), z.unknown()).nullable(),
    messages: z.array(UIMessage),
    streamSequence: z.number(),
    status: z.enum(STREAM_STATUSES),
    checkpointId: z.string().nullable(),
    timestamp: ms,
    startSequence: z.number().optional(),
    existingMessageId: z.string().optional(),
    /** Extension: what people are asked, with the time they have. */
    pending: z.array(PendingQuestion).optional(),
    /** Extension. */
    run: NewestRun.optional(),
    /** Extension: messages that wait for their turn. */
    queue: z.array(QueuedMessages).optional(),
  })
  .meta({ id: 'FrontendSnapshot' });
/** `State` is the agent's own state, as it declares it. */
export type FrontendSnapshot<Message = unknown, State = Record<string, unknown>> = Omit<
  z.infer<typeof FrontendSnapshot>,
  'state' | 'messages' | 'queue'
> & { state: State | null; messages: Message[]; queue?: QueuedMessages<Message>[] };
