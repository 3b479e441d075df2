import { z } from 'zod';
import { ROLES } from './actor.js';
import { Usage } from './chunk.js';
import { AnswerBody, ExtendBody, RetryBody, SessionId, SessionPath, WaitingQuery } from './http.js';
import { LIMITS } from './limits.js';
import { HiddenMessages, MessagesReply, PendingQuestion, WaitingSession } from './replies.js';
import { RUN_STATUSES } from './run.js';

/**
 * Requests and replies of `/api/operator`, for colleagues who look after the conversations of a
 * tenant. Times in replies are ms since the epoch.
 */

const ms = z.number();
const text = z.string().min(1).max(LIMITS.idChars);
const RunStatus = z.enum(RUN_STATUSES);

const reason = z.string().max(LIMITS.errorTextBytes).optional();

/** Filters of runs; a run has to match all of them. */
export const RunFilter = z.object({
  /** A list filter of Temporal, such as `AgentTurn > 3 AND ExecutionStatus = 'Failed'`. */
  query: z.string().min(1).max(LIMITS.runQueryChars).optional(),
  status: RunStatus.optional(),
  agent: text.optional(),
  /** Runs that started at this time or later; ISO 8601. */
  since: z.iso.datetime({ offset: true }).optional(),
  /** Runs that started before this time; ISO 8601. */
  before: z.iso.datetime({ offset: true }).optional(),
  owner: text.optional(),
});

/** `GET /api/operator/runs`: newest first. */
export const OperatorRunsQuery = RunFilter.extend({
  limit: z.coerce.number().int().min(1).max(LIMITS.operatorPage).default(20),
  cursor: z.string().min(1).max(LIMITS.runCursorChars).optional(),
});

/** `GET /api/operator/runs/count`: number of matching runs by status, agent or tenant. */
export const OperatorRunCountQuery = RunFilter.omit({ owner: true }).extend({
  groupBy: z.enum(['status', 'agent', 'tenant']).default('status'),
});

export const OperatorRunPath = z.object({
  runId: z
    .string()
    .min(1)
    .max(3 * LIMITS.idChars),
});

/** `GET /api/operator/waiting`: longest waiting first. */
export const OperatorWaitingQuery = WaitingQuery.extend({
  /** Only what has waited for at least this long, ms. */
  olderThan: z.coerce.number().int().nonnegative().optional(),
  /** Only this conversation, which its owner may ask for as well. */
  session: SessionId.optional(),
});

/** `POST /api/operator/waiting/:sessionId/:toolCallId`: an answer as in a chat, with a reason. */
export const OperatorAnswerBody = z.union([
  AnswerBody.options[0],
  AnswerBody.options[1].safeExtend({ reason }),
  AnswerBody.options[2].extend({ reason }),
]);
export type OperatorAnswerBody = z.infer<typeof OperatorAnswerBody>;

export const OperatorExtendBody = ExtendBody.extend({ reason });

export const OperatorResumeBody = z.object({ reason }).prefault({});

/** `POST /api/operator/runs/:runId/retry`: the point to repeat the turn from, and a reason. */
export const OperatorRetryBody = RetryBody.unwrap().safeExtend({ reason }).prefault({});

/** `POST /api/operator/runs/:runId/fork`: the step to continue after, and a reason. */
export const OperatorForkBody = z.object({
  /** The copy has the results of this step, and continues with the next one; 0 repeats the turn. */
  step: z.number().int().min(0).max(1_000_000),
  /** Id of the copy. Default: one is made. */
  sessionId: SessionPath.shape.sessionId.optional(),
  reason,
});

export const OperatorForkReply = z.object({ sessionId: z.string(), runId: z.string() });
export type OperatorForkReply = z.infer<typeof OperatorForkReply>;

/** `GET /api/operator/runs/:runId/events`: entries after this sequence. */
export const OperatorEventsQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(LIMITS.replayPage).default(LIMITS.replayPage),
});

export const OperatorEvents = z.object({
  events: z.array(
    z.object({
      sequence: z.number(),
      /** `m<step>` for a model step, `t:<toolCallId>` for a tool, empty for the record itself. */
      writer: z.string(),
      /** A chunk or control message, see PROTOCOL.md. */
      message: z.looseObject({ type: z.string() }),
    }),
  ),
  next: z.number().optional(),
});
export type OperatorEvents = z.infer<typeof OperatorEvents>;

export const OperatorRun = z
  .object({
    runId: z.string(),
    /** Conversation of the run; for a sub-agent's run the root's. */
    sessionId: z.string(),
    /** Empty in a list for a run that was started without search attributes. */
    agent: z.string(),
    /** The owner of the conversation; absent once its record has expired. */
    owner: z.string().optional(),
    /** Status in the record if it has the run, else in Temporal. */
    status: RunStatus,
    turn: z.number().optional(),
    model: z.string().optional(),
    subAgent: z.boolean().optional(),
    startedAt: ms,
    endedAt: ms.optional(),
  })
  .meta({ id: 'OperatorRun' });
export type OperatorRun = z.infer<typeof OperatorRun>;

/** Body of `GET /api/operator/runs`. */
export const OperatorRuns = z.object({
  runs: z.array(OperatorRun),
  cursor: z.string().optional(),
});
export type OperatorRuns = z.infer<typeof OperatorRuns>;

/** Body of `GET /api/operator/runs/count`. */
export const OperatorRunCount = z.object({
  total: z.number(),
  /** Groups without runs are left out. Agents that this server does not know are in no group. */
  groups: z.array(z.object({ value: z.string(), count: z.number() })),
});
export type OperatorRunCount = z.infer<typeof OperatorRunCount>;

/** A call of a run, without its contents. */
export const OperatorCall = z
  .object({
    toolCallId: z.string(),
    toolName: z.string(),
    kind: z.enum(['server', 'approval', 'client', 'subagent', 'provider']),
    /** `open`: neither settled nor waiting for a person. */
    state: z.enum(['open', 'waiting', 'done', 'failed', 'denied']),
    errorCode: z.string().optional(),
    decision: z
      .object({
        approved: z.boolean(),
        at: ms,
        by: z.string().optional(),
        reason: z.string().optional(),
        /** True if the person changed the input. */
        edited: z.boolean().optional(),
        automatic: z.boolean().optional(),
      })
      .optional(),
  })
  .meta({ id: 'OperatorCall' });
export type OperatorCall = z.infer<typeof OperatorCall>;

/** A pending call, with the rights of the caller. */
export const OperatorQuestion = PendingQuestion.extend({
  /** True if this caller's answer would be accepted. */
  mayDecide: z.boolean(),
  /** Roles of which this caller needs one; absent if no lack of a role stands in the way. */
  missingRoles: z.array(z.enum(ROLES)).optional(),
  /** True if this caller may deny the call though not approve it, having caused it. */
  mayWithdraw: z.literal(true).optional(),
}).meta({ id: 'OperatorQuestion' });
export type OperatorQuestion = z.infer<typeof OperatorQuestion>;

/** Body of `GET /api/operator/runs/:runId`. */
export const OperatorRunDetail = OperatorRun.extend({
  owner: z.string(),
  by: z.string().optional(),
  /** True for the conversation's newest run; only that one can be stopped, resumed or repeated. */
  isNewest: z.boolean(),
  mode: z.string(),
  stepCount: z.number(),
  reason: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  usage: z
    .object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      costMicroUsd: z.number().optional(),
    })
    .optional(),
  steps: z.array(z.object({ step: z.number(), calls: z.array(OperatorCall) })),
  pending: z.array(OperatorQuestion),
  /** Page that shows the trace, if there is one; absent for a sub-agent's run. */
  traceUrl: z.string().optional(),
}).meta({ id: 'OperatorRunDetail' });
export type OperatorRunDetail = z.infer<typeof OperatorRunDetail>;

/** A conversation of the tenant that waits for people. */
export const OperatorWaitingSession = WaitingSession.omit({ title: true })
  .extend({
    owner: z.string(),
    pending: z.array(OperatorQuestion),
  })
  .meta({ id: 'OperatorWaitingSession' });
export type OperatorWaitingSession = z.infer<typeof OperatorWaitingSession>;

/** Body of `GET /api/operator/waiting`. */
export const OperatorWaiting = z.object({
  sessions: z.array(OperatorWaitingSession),
  cursor: z.string().optional(),
});
export type OperatorWaiting = z.infer<typeof OperatorWaiting>;

/** Body of `GET /api/operator/sessions/:sessionId`: a page of its messages, oldest first. */
export const OperatorSession = MessagesReply.extend({
  sessionId: z.string(),
  agent: z.string(),
  owner: z.string(),
  createdAt: ms,
  updatedAt: ms,
  run: z.object({ runId: z.string(), status: RunStatus }),
  pending: z.array(OperatorQuestion),
  /** Present while something waits. */
  hiddenMessages: HiddenMessages,
});
export type OperatorSession<M = unknown> = Omit<z.infer<typeof OperatorSession>, 'messages'> & {
  messages: M[];
};

/** `GET /api/operator/runs/:runId/steps/:step`. */
export const OperatorStepPath = OperatorRunPath.extend({
  step: z.coerce.number().int().min(1).max(1_000_000),
});

const StepCall = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.unknown(),
  /** The input as the person who approved the call changed it. */
  changedInput: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.string().optional(),
});

/** Body of `GET /api/operator/runs/:runId/steps/:step`. */
export const OperatorStep = z
  .object({
    step: z.number(),
    agent: z.string(),
    /** First 4,000 characters of the turn's user messages. */
    prompt: z.string(),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(StepCall),
  })
  .meta({ id: 'OperatorStep' });
export type OperatorStep = z.infer<typeof OperatorStep>;

/** Kinds of work that workers take from Temporal. */
const WORK_KINDS = ['runs', 'steps', 'tools'] as const;

/** A process that asks Temporal for work. */
export const OperatorWorker = z
  .object({
    /** Name in Temporal: process id and host, unless the worker was given a name. */
    identity: z.string(),
    takes: z.array(z.enum(WORK_KINDS)),
    /** Time of its last poll, ms since the epoch by Temporal's clock. */
    lastPollAt: z.number(),
  })
  .meta({ id: 'OperatorWorker' });
export type OperatorWorker = z.infer<typeof OperatorWorker>;

/** The lease of a worker, with which it shows others that it lives. */
export const OperatorLease = z
  .object({
    id: z.string(),
    /** `lapsed` and `ended`: another worker takes over what it held. */
    state: z.enum(['held', 'lapsed', 'ended']),
    attempts: z.number(),
  })
  .meta({ id: 'OperatorLease' });
export type OperatorLease = z.infer<typeof OperatorLease>;

/** Body of `GET /api/operator/workers`. */
export const OperatorWorkers = z.object({
  taskQueue: z.string(),
  workers: z.array(OperatorWorker),
  /** At most 200; absent if workers hold none. */
  leases: z.array(OperatorLease).optional(),
});
export type OperatorWorkers = z.infer<typeof OperatorWorkers>;

/** Requests and replies of `/api/operator/agents`. Times in replies are ms since the epoch. */

export const OperatorAgentPath = z.object({ agent: z.string().min(1).max(LIMITS.idChars) });

export const OperatorPauseBody = z
  .object({
    /** True to pause the agent for all tenants; only for callers without a tenant. */
    everywhere: z.boolean().default(false),
    reason: z.string().min(1).max(LIMITS.errorTextBytes).optional(),
  })
  .prefault({});

export const OperatorPauseReply = z.object({
  result: z.enum(['paused', 'already_paused', 'resumed', 'not_paused']),
});
export type OperatorPauseReply = z.infer<typeof OperatorPauseReply>;

const OperatorAgent = z
  .object({
    name: z.string(),
    isPublic: z.boolean(),
    isDefault: z.boolean(),
    pauses: z.array(
      z.object({
        everywhere: z.boolean(),
        at: z.number(),
        /** Absent if the caller may not know who pauses agents for all tenants. */
        by: z.string().optional(),
        reason: z.string().optional(),
      }),
    ),
    /** Runs of the tenant that wait for the agent. */
    held: z.number(),
  })
  .meta({ id: 'OperatorAgent' });
export type OperatorAgent = z.infer<typeof OperatorAgent>;

/** Body of `GET /api/operator/agents`. */
export const OperatorAgents = z.object({ agents: z.array(OperatorAgent) });
export type OperatorAgents = z.infer<typeof OperatorAgents>;

/** Receivers of notices, without addresses and secrets. */
export const OperatorReceivers = z.object({
  receivers: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['webhook', 'slack', 'mail']),
      escalation: z.boolean(),
    }),
  ),
});
export type OperatorReceivers = z.infer<typeof OperatorReceivers>;

export const OperatorReceiverPath = z.object({ receiver: z.string().min(1).max(40) });

export const ReceiverTestReply = z.object({
  status: z.enum(['delivered', 'failed']),
  problem: z.string().optional(),
});
export type ReceiverTestReply = z.infer<typeof ReceiverTestReply>;

/** Requests and replies of `GET /api/operator/usage`. Days are UTC. */

const day = z.iso.date();
const DEFAULT_GROUPS = ['day', 'owner', 'agent', 'model'] as const;
/** Groupings of the sums. A report covers one tenant, whose name each row has with `tenant`. */
export const USAGE_GROUPS = ['tenant', ...DEFAULT_GROUPS] as const;

export const UsageQuery = z.object({
  since: day.optional(),
  until: day.optional(),
  /** Comma-separated names of groups. Default: all but `tenant`. */
  by: z
    .string()
    .transform((names) => names.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(USAGE_GROUPS)))
    .default([...DEFAULT_GROUPS]),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Sums of one group. Fields of other groupings are absent; so is `owner` for erased people. */
export const UsageRow = z.object({
  /** Empty without tenants. */
  tenant: z.string().optional(),
  day: day.optional(),
  owner: z.string().optional(),
  agent: z.string().optional(),
  /** Empty for runs whose model never answered. */
  model: z.string().optional(),
  runs: z.number(),
  ...Usage.shape,
  /** Millionths of a US dollar; absent without prices. */
  costMicroUsd: z.number().optional(),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageReply = z.object({ since: day, until: day, usage: z.array(UsageRow) });
export type UsageReply = z.infer<typeof UsageReply>;
