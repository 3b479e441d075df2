import { z } from 'zod';
import { ApprovalResponse, ClientToolResult } from './answers.js';
import { SessionId } from './http.js';
import { LIMITS } from './limits.js';
import { listOf } from './list-of.js';
import { RUN_STATUSES, STREAM_STATUSES } from './run.js';
import { UserPart } from './rows.js';

/** The agent-server surface: bodies as agent clients and remote parents send them, and its replies. */

const id = z.string().min(1).max(LIMITS.idChars);

/** An object of somebody else's: what its members are is looked at where they are used. */
const AnyRecord = z
  .unknown()
  .refine(isRecord, 'expected an object')
  .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<
  Record<string, unknown>
>;

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a user says, as programs say it. */
export const UserInputMessage = z
  .object({
    role: z.literal('user').optional(),
    /** Accepted once per session. Default: a new one. */
    id: id.optional(),
    content: z.string().optional(),
    parts: listOf(UserPart, LIMITS.jsonValues).optional(),
    metadata: AnyRecord.optional(),
  })
  .refine(({ content, parts }) => (content ?? '') !== '' || (parts ?? []).length > 0, {
    message: 'content or parts is required',
  });
export type UserInputMessage = z.infer<typeof UserInputMessage>;

/** At least one message. */
const UserInputMessages = listOf(UserInputMessage, LIMITS.newMessages).refine(
  (messages) => messages.length > 0,
  { message: 'a message is required' },
);

const said = z.union([z.string().min(1), UserInputMessage, UserInputMessages]);

export const StartAgentBody = z
  .object({
    /** Default: a new session. */
    sessionId: SessionId.optional(),
    agent: z.string().optional(),
    /** The same as `agent`. */
    agentType: z.string().optional(),
    message: said.optional(),
    /** The same as `message`. */
    input: said.optional(),
    /** Id for a message that is a plain text: sent again under it, the request is the same run. */
    messageId: id.optional(),
    state: AnyRecord.optional(),
    /** For messages that bring none of their own. */
    metadata: AnyRecord.optional(),
  })
  .refine(({ message, input }) => message !== undefined || input !== undefined, {
    message: 'message is required',
    path: ['message'],
  });
export type StartAgentBody = z.infer<typeof StartAgentBody>;

/** Reply of `/agent/start` and `/agent/resume`. */
export const AgentStarted = z.object({
  sessionId: z.string(),
  streamId: z.string(),
  runId: z.string(),
});
export type AgentStarted = z.infer<typeof AgentStarted>;

export const ResumeAgentBody = z.object({
  sessionId: SessionId,
  mode: z
    .enum(['continue', 'with_message', 'with_confirmation', 'from_checkpoint', 'retry'])
    .optional(),
  message: z.string().min(1).optional(),
  checkpointId: id.optional(),
  /** For `retry`: a message of the turn that is done again. Default: the newest turn. */
  messageId: id.optional(),
});
export type ResumeAgentBody = z.infer<typeof ResumeAgentBody>;

/** An answer as programs give it: that of a client tool, unless it says that it is a decision. */
export const SubmitToolResultBody = z.union([
  ApprovalResponse.extend({ sessionId: SessionId }),
  ClientToolResult.safeExtend({ sessionId: SessionId }),
]);
export type SubmitToolResultBody = z.infer<typeof SubmitToolResultBody>;

export const ToolResultTaken = z.object({
  sessionId: z.string(),
  toolCallId: z.string(),
  /** It was the last one that the run waited for. */
  resumed: z.boolean(),
});
export type ToolResultTaken = z.infer<typeof ToolResultTaken>;

/** Which session is asked about. */
export const AgentTarget = z.object({ sessionId: SessionId });
export type AgentTarget = z.infer<typeof AgentTarget>;

/** Which session is followed, and from where; a `Last-Event-ID` wins. */
export const AgentEventsQuery = AgentTarget.extend({ fromSequence: z.string().optional() });
export type AgentEventsQuery = z.infer<typeof AgentEventsQuery>;

const count = z.number();

/** Reply of `GET /agent/status`: how the session's newest run stands. */
export const AgentStatus = z
  .object({
    sessionId: z.string(),
    agent: z.string(),
    run: z.object({
      runId: z.string(),
      turn: count,
      status: z.enum(RUN_STATUSES),
      /** Steps committed. */
      stepCount: count,
      /** ms since the epoch. */
      startedAt: count,
      /** The model's provider fails; it is asked again by itself. */
      waitingFor: z.literal('provider').optional(),
      usage: z
        .object({
          inputTokens: count,
          outputTokens: count,
          cachedTokens: count.optional(),
          cacheWriteTokens: count.optional(),
          reasoningTokens: count.optional(),
          costMicroUsd: count.optional(),
        })
        .optional(),
    }),
    status: z.enum(RUN_STATUSES),
    stream: z.enum(STREAM_STATUSES),
    latestSequence: count,
    /** Id of the newest turn's assistant message. */
    messageId: z.string(),
    /** Sequence before the newest turn. */
    turnStartSequence: count,
    /** Sequence of the newest pause, or of what came before the turn if there was none. */
    pauseSequence: count,
    /** Calls that wait for an answer. */
    pending: z.array(
      z.object({
        toolCallId: z.string(),
        toolName: z.string(),
        kind: z.enum(['approval', 'client']),
        input: z.unknown(),
        runId: z.string(),
        approvalId: z.string().optional(),
        /** ms since the epoch by the store's clock. */
        deadline: count.optional(),
      }),
    ),
    /** What the newest step said. */
    text: z.string(),
    error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
    /** The structured result, once there is one. */
    output: z.unknown().optional(),
  })
  .meta({ id: 'AgentStatus' });
export type AgentStatus = z.infer<typeof AgentStatus>;

export const StopAgentBody = z.object({
  sessionId: SessionId,
  reason: z.string().max(LIMITS.errorTextBytes).optional(),
});
export type StopAgentBody = z.infer<typeof StopAgentBody>;
