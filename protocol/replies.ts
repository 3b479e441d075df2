import { z } from 'zod';
import { ROLES } from './actor.js';
import { HTTP_STATUS, type ErrorCode } from './errors.js';
import { RUN_STATUSES, STREAM_STATUSES } from './run.js';
import { LIMITS } from './limits.js';

const RunStatus = z.enum(RUN_STATUSES);
/** ms since the epoch. */
const ms = z.number();

export const ToolCard = z.object({
  name: z.string(),
  title: z.string().optional(),
  /** Title of the agent that executes its calls; absent if none does. */
  agent: z.string().optional(),
});
export type ToolCard = z.infer<typeof ToolCard>;

export const AgentCard = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string().optional(),
  /** First messages to click: the label that people read, and the text that is sent. */
  openers: z.array(z.object({ label: z.string(), text: z.string() })),
  /** Tools that pages do not show by name. */
  tools: z.array(ToolCard),
  /** False if pages do not offer the agent; people who know its name may still talk to it. */
  listed: z.boolean(),
});
export type AgentCard = z.infer<typeof AgentCard>;

/** Author and time of a decision about a call; the message has only the decision. */
export const CallDecision = z
  .object({
    toolCallId: z.string(),
    approved: z.boolean(),
    by: z.string().optional(),
    at: ms,
    /** True if no person decided, or none in time. */
    automatic: z.boolean().optional(),
  })
  .meta({ id: 'CallDecision' });
export type CallDecision = z.infer<typeof CallDecision>;

/**
 * Policy for a message that arrives while a run is active: refuse it, let it wait for its turn,
 * give it to the run's next step, or stop the run and answer it instead.
 */
export const BusyPolicy = z.enum(['reject', 'queue', 'steer', 'interrupt']);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

export type QueueMode = Exclude<BusyPolicy, 'reject'>;

/** Body of every refusal. */
export const ProblemBody = z
  .object({
    error: z.string(),
    code: z.enum(Object.keys(HTTP_STATUS) as [ErrorCode, ...ErrorCode[]]),
    detail: z.unknown().optional(),
  })
  .meta({ id: 'ProblemBody' });
export type ProblemBody = z.infer<typeof ProblemBody>;

/** A person's change of a call's input; `from` is the input that the model requested. */
const EditedInput = z.object({
  by: z.string().optional(),
  at: ms,
  from: z.unknown(),
});

/** A call that waits for a person or a page. */
export const PendingQuestion = z
  .object({
    toolCallId: z.string(),
    toolName: z.string(),
    kind: z.enum(['approval', 'client']),
    input: z.unknown(),
    agent: z.string().optional(),
    title: z.string().optional(),
    /** The author's description of the tool. */
    description: z.string().optional(),
    /** JSON Schema of the part that people write: an approval's input, or a client's result. */
    schema: z.unknown().optional(),
    /** Names the run and the call. An answer to a call with approvers sends it back, with the hash. */
    approvalId: z.string(),
    inputHash: z.string(),
    /** Present once a person has changed the input; the change waits for another person. */
    edited: EditedInput.optional(),
    /** ms since the epoch by the store's clock; absent if there is no deadline. */
    deadline: ms.optional(),
    /** False if the caller's answer would be refused: another person has to decide. */
    mayDecide: z.boolean().optional(),
    /** Roles of which an approver needs one, if the tool names any. */
    approvers: z.array(z.string()).optional(),
    /** True if the owner of the conversation may not be the approver. */
    separateApprover: z.boolean().optional(),
  })
  .meta({ id: 'PendingQuestion' });
export type PendingQuestion = z.infer<typeof PendingQuestion>;

/** A UI message of the AI SDK, which has types for its contents. */
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

/**
 * Messages that the model gets and the conversation does not show, for people who must know why they are asked;
 * absent without such messages.
 */
export const HiddenMessages = z.array(UIMessage).optional();

/** Body of `GET /api/sessions/:sessionId/pending`. */
export const SessionPending = SessionQuestions.extend({
  hiddenMessages: HiddenMessages,
});
export type SessionPending<M = unknown> = z.infer<typeof SessionQuestions> & {
  hiddenMessages?: M[];
};

/** A session that waits for people. */
export const WaitingSession = SessionQuestions.extend({
  title: z.string(),
  agent: z.string(),
  /** Time of the newest question, ms since the epoch. */
  since: ms,
  /** The earliest deadline of the questions, ms since the epoch by the store's clock. */
  deadline: ms.optional(),
  hiddenMessages: HiddenMessages,
});
export type WaitingSession = z.infer<typeof WaitingSession>;

/** Body of `GET /api/sessions`; longest waiting first. */
export const WaitingSessions = z.object({
  sessions: z.array(WaitingSession),
  cursor: z.string().optional(),
});
export type WaitingSessions = z.infer<typeof WaitingSessions>;

/** Body of `GET /api/conversations`: the caller's, most recently changed first. */
export const Conversations = z.object({
  conversations: z.array(
    z.object({
      sessionId: z.string(),
      title: z.string(),
      agent: z.string(),
      updatedAt: ms,
      /** Status of the newest run. */
      status: RunStatus,
      waiting: z.number(),
    }),
  ),
  /** Cursor of the next page; absent on the last page. A page of a search may be short before that. */
  cursor: z.string().optional(),
});
export type Conversations = z.infer<typeof Conversations>;

/** Reply of a stop: the outcome, and the run that it concerns. */
export const StopReply = z.object({
  result: z.enum(['nothing', 'stopping', 'ended']),
  runId: z.string(),
});
export type StopReply = z.infer<typeof StopReply>;

/** Reply to an accepted answer; after the last one that a run waited for, the run continues. */
export const AnswerReply = z.object({
  /** `edited`: the changed input waits for another person. */
  result: z.enum(['stored', 'edited']),
  sequence: z.number(),
  resumed: z.boolean(),
});
export type AnswerReply = z.infer<typeof AnswerReply>;

export const ExtendReply = z.object({ result: z.literal('extended'), deadline: ms });
export type ExtendReply = z.infer<typeof ExtendReply>;

/** Another page's lease (409 `call_leased`) has its remaining time in `detail.forMs`. */
export const LeaseReply = z.object({ result: z.literal('leased'), forMs: z.number() });
export type LeaseReply = z.infer<typeof LeaseReply>;

export const RetryReply = z.object({ runId: z.string() });
export type RetryReply = z.infer<typeof RetryReply>;

export const BranchReply = z.object({ sessionId: z.string() });
export type BranchReply = z.infer<typeof BranchReply>;

/** Checkpoints that a conversation can return to, newest first. */
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
      /** The beginning of what the agent wrote in this step, and up to five tools that it called. */
      text: z.string().optional(),
      toolNames: z.array(z.string()).optional(),
    }),
  ),
  cursor: z.string().optional(),
});
export type CheckpointsReply = z.infer<typeof CheckpointsReply>;

/** Server settings that pages need. */
export const ConfigReply = z.object({
  /** Names of all agents that people may talk to. */
  agents: z.array(z.string()),
  /** The same agents, as pages present them. */
  cards: z.array(AgentCard),
  defaultAgent: z.string().nullable(),
  temporalUi: z.string().optional(),
  namespace: z.string(),
  roles: z.array(z.enum(ROLES)),
  /** False on a server without sign-in, where no approval can demand a second person. */
  separateApprovers: z.boolean(),
  /** Files that messages may have; absent if none. Types may end in `/*`. */
  files: z.object({ maxBytes: z.number(), types: z.array(z.string()) }).optional(),
});
export type ConfigReply = z.infer<typeof ConfigReply>;

export const ReadinessReply = z.object({
  status: z.enum(['ok', 'unavailable']),
  /**
   * The failing checks. Once Temporal and workers were seen, messages are accepted without them.
   */
  away: z.array(z.string()).optional(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
});
export type ReadinessReply = z.infer<typeof ReadinessReply>;

/** Body of `GET /api/chat/:sessionId/messages`. */
export const MessagesReply = z.object({
  messages: z.array(UIMessage),
  hasMore: z.boolean(),
});
export interface MessagesReply<M = unknown> {
  messages: M[];
  hasMore: boolean;
}

export const QueuedMessages = z
  .object({
    id: z.string(),
    mode: BusyPolicy.exclude(['reject']),
    messages: z.array(UIMessage),
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

export const RunError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() });

/**
 * The newest run. `error` is the reason for a failure. `stalled`: it has written nothing for a long
 * time. `waitingFor`: the `provider` fails and is retried, operators paused the `agent` before the
 * run began, or the run begins at `startAt`.
 */
export const NewestRun = z.object({
  runId: z.string(),
  status: RunStatus,
  error: RunError.optional(),
  stalled: z.boolean().optional(),
  waitingFor: z.enum(['provider', 'agent', 'start']).optional(),
  startAt: z.number().optional(),
});
export type NewestRun = z.infer<typeof NewestRun>;

/** State of a session: `GET /api/chat/:sessionId/events` sends it whenever it changes. */
export const SessionEvent = z
  .object({
    sessionId: z.string(),
    /** Sequence of the newest entry at that moment; also the id of the event. */
    sequence: z.number(),
    status: z.enum(STREAM_STATUSES),
    run: NewestRun,
    turn: z.number(),
    /** Message id of the newest turn's reply. */
    messageId: z.string(),
    pending: z.array(PendingQuestion),
    /** Decisions about calls of the newest step; absent without any. */
    decisions: z.array(CallDecision).optional(),
    queue: z.array(QueuedMessages),
  })
  .meta({ id: 'SessionEvent' });
export type SessionEvent<M = unknown> = Omit<z.infer<typeof SessionEvent>, 'queue'> & {
  queue: QueuedMessages<M>[];
};

/** Initial data of a page: the history, and the position of the stream. */
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
    pending: z.array(PendingQuestion).optional(),
    decisions: z.array(CallDecision).optional(),
    run: NewestRun.optional(),
    queue: z.array(QueuedMessages).optional(),
  })
  .meta({ id: 'FrontendSnapshot' });
/** `State` is the agent's own state, as it declares it. */
export type FrontendSnapshot<State = Record<string, unknown>, Message = unknown> = Omit<
  z.infer<typeof FrontendSnapshot>,
  'state' | 'messages' | 'queue'
> & { state: State | null; messages: Message[]; queue?: QueuedMessages<Message>[] };

/** `DELETE /api/chat/:sessionId`: with the receipt, or without a body. */
export const EraseQuery = z.object({ receipt: z.enum(['true', 'false']).optional() });

const ERASED = {
  /** Conversations and their sub-agents. */
  sessions: z.number(),
  workflows: z.number(),
  /** Rows of the transcript, entries of the stream, and bytes of text. */
  rows: z.number(),
  entries: z.number(),
  bytes: z.number(),
};

/** Receipt of an erasure. */
export const ErasureReply = z
  .object({
    sessionId: z.string(),
    at: ms,
    by: z.string().optional(),
    /** False while workflows remain to be deleted in Temporal; the workers complete it. */
    complete: z.boolean(),
    ...ERASED,
  })
  .meta({ id: 'Erasure' });
export type ErasureReply = z.infer<typeof ErasureReply>;

export const PersonPath = z.object({ userId: z.string().min(1).max(LIMITS.idChars) });

/** Body of `DELETE /api/operator/users/:userId`. */
export const PersonErasureReply = z
  .object({
    /** False while conversations or workflows are left; the client must repeat the request. */
    complete: z.boolean(),
    /** Conversations that this request has erased, and what was in them. */
    conversations: z.number(),
    ...ERASED,
  })
  .meta({ id: 'PersonErasure' });
export type PersonErasureReply = z.infer<typeof PersonErasureReply>;

/** A stored file: the message part that names it, with its id and size. */
export const UploadedFile = z
  .object({
    type: z.literal('file'),
    /** Serves the file to its owner. */
    url: z.string(),
    mediaType: z.string(),
    filename: z.string().optional(),
    id: z.string(),
    bytes: z.number(),
  })
  .meta({ id: 'UploadedFile' });
export type UploadedFile = z.infer<typeof UploadedFile>;
