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

interface OfRun {
  threadId: string;
  runId: string;
}
interface OfMessage {
  messageId: string;
}
interface OfCall {
  toolCallId: string;
}

/** The AG-UI events that this server sends. */
export type AgUiEvent =
  | (OfRun & { type: 'RUN_STARTED'; protocolVersion: string })
  | (OfRun & { type: 'RUN_FINISHED'; result?: unknown; outcome: AgUiOutcome; usage: TokenUsage[] })
  | { type: 'RUN_ERROR'; message: string; code: string }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | (OfMessage & { type: 'TEXT_MESSAGE_START'; role: 'assistant' })
  | (OfMessage & { type: 'REASONING_MESSAGE_START'; role: 'reasoning' })
  | (OfMessage & { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; delta: string })
  | (OfMessage & { type: 'TEXT_MESSAGE_END' | 'REASONING_MESSAGE_END' })
  | (OfMessage & { type: 'REASONING_START' | 'REASONING_END' })
  | (OfCall & { type: 'TOOL_CALL_START'; toolCallName: string; parentMessageId: string })
  | (OfCall & { type: 'TOOL_CALL_ARGS'; delta: string })
  | (OfCall & { type: 'TOOL_CALL_END' })
  | (OfCall & OfMessage & { type: 'TOOL_CALL_RESULT'; content: string; role: 'tool' })
  | { type: 'STATE_SNAPSHOT'; snapshot: unknown }
  | { type: 'STATE_DELTA'; delta: unknown }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiShown[] }
  | { type: 'CUSTOM'; name: string; value: unknown };
