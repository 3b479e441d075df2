import { z } from 'zod';
import { listOf, SessionId } from '../../../protocol/http.js';
import { LIMITS } from '../../../protocol/limits.js';

/** The parts of AG-UI's `RunAgentInput`, protocol 1.0, that `POST /api/ag-ui/:agent` accepts. */

const id = z.string().min(1).max(LIMITS.idChars);

const ContentPart = z.looseObject({ type: z.string() });

export const AgUiMessage = z.object({
  /** Ids of result messages contain the id of their call, so they may be longer. */
  id: z
    .string()
    .min(1)
    .max(2 * LIMITS.idChars),
  role: z.string(),
  content: z
    .union([z.string(), listOf(ContentPart, LIMITS.newMessages), z.record(z.string(), z.unknown())])
    .nullish(),
  toolCallId: id.optional(),
  /** Calls of an `assistant` message as the client saw them. */
  toolCalls: z.unknown().optional(),
  /** Error of a `tool` message whose call failed on the client. */
  error: z.string().optional(),
});
export type AgUiMessage = z.infer<typeof AgUiMessage>;

/** An answer to an interrupt of the run before. */
const ResumeEntry = z.object({
  interruptId: z.string().max(4 * LIMITS.idChars),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});

export const AgUiInput = z.object({
  threadId: SessionId,
  /** The client's id for this request; the events carry it. */
  runId: id,
  messages: listOf(AgUiMessage, LIMITS.postedMessages),
  resume: listOf(ResumeEntry, LIMITS.newMessages).nullish(),
});
export type AgUiInput = z.infer<typeof AgUiInput>;

export const AgUiPath = z.object({ agent: id });

interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type AgUiShown =
  | { id: string; role: 'user' | 'reasoning'; content: string }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: ToolCall[] }
  | { id: string; role: 'tool'; toolCallId: string; content: string; error?: string };

/** An approval request, which ends a run. */
export interface AgUiInterrupt {
  id: string;
  reason: string;
  message: string;
  toolCallId: string;
  responseSchema: Record<string, unknown>;
  expiresAt?: string;
}

export type AgUiOutcome =
  | { type: 'success'; pendingToolCallIds?: string[] }
  | { type: 'interrupt'; interrupts: AgUiInterrupt[] }
  | { type: 'cancelled' };

interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}

export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: string }
  | {
      type: 'RUN_FINISHED';
      threadId: string;
      runId: string;
      result?: unknown;
      outcome: AgUiOutcome;
      usage: TokenUsage[];
    }
  | { type: 'RUN_ERROR'; message: string; code: string }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | {
      type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END';
      messageId: string;
    }
  | {
      type: 'TOOL_CALL_START';
      toolCallId: string;
      toolCallName: string;
      parentMessageId: string;
    }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | {
      type: 'TOOL_CALL_RESULT';
      messageId: string;
      toolCallId: string;
      content: string;
      role: 'tool';
    }
  | { type: 'STATE_SNAPSHOT'; snapshot: unknown }
  | { type: 'STATE_DELTA'; delta: unknown }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiShown[] }
  | { type: 'CUSTOM'; name: string; value: unknown };
