import type { ContentPart, GenerateTextResult, ModelMessage, StepResult, ToolSet } from 'ai';
import type { AgentDefinition } from '../../agents/index.js';
import { toPrompt } from '../../activities/model/prompt.js';
import { toStepRecords, toTotalUsage } from '../../activities/model/step-records.js';
import type { AgentResult } from '../../executor/run-result.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { PendingQuestion } from '../../protocol/http.js';
import type { Row } from '../../protocol/rows.js';

type OfAiSdk<TOOLS extends ToolSet> = GenerateTextResult<TOOLS, Record<string, unknown>, never>;

/**
 * What a call of the agent has generated, in the fields of AI SDK 7: those of all steps of the call,
 * and the text of the last one. Requests for approvals stand at the end of `content`.
 */
export interface Generated<TOOLS extends ToolSet> extends Pick<
  OfAiSdk<TOOLS>,
  'text' | 'content' | 'steps' | 'toolCalls' | 'toolResults' | 'finishReason' | 'usage'
> {
  /** For the next call. They stand for the conversation while they are the same objects. */
  readonly responseMessages: ModelMessage[];
  /** As AI SDK 6 has them. */
  readonly response: { readonly messages: ModelMessage[] };
  /** The result of an agent with an output schema. */
  readonly output: unknown;
  /** What people are asked: approvals, and calls of tools without `execute`. */
  readonly pending: readonly PendingQuestion[];
  readonly sessionId: string;
  readonly runId: string;
}

/**
 * Pure.
 *
 * @param turn  rows of the turn
 * @param given how many of them an earlier call has given back
 */
export function toGenerated<TOOLS extends ToolSet>(
  agent: AgentDefinition,
  turn: readonly Row[],
  result: AgentResult,
  given: number,
): Generated<TOOLS> {
  const messageId = turn.findLast((row) => row.role === 'assistant')?.messageId ?? '';
  const before = toStepRecords(agent, turn.slice(0, given), messageId).length;
  const steps = toStepRecords(agent, turn, messageId).slice(before) as StepResult<TOOLS>[];
  const pending = 'pending' in result ? result.pending : [];
  const { sessionId, runId } = result;
  const requests = pending.flatMap((question) =>
    question.kind === 'approval' ? [toRequest<TOOLS>(question, runId)] : [],
  );
  const fresh = turn.slice(given).filter((row) => row.role !== 'user');
  // The prompt's messages are messages of the AI SDK, in their most explicit form.
  const responseMessages = toPrompt('', fresh) as ModelMessage[];
  return {
    ...{ steps, pending, sessionId, runId, responseMessages },
    response: { messages: responseMessages },
    text: steps.at(-1)?.text ?? '',
    content: [...steps.flatMap(({ content }) => content), ...requests],
    toolCalls: steps.flatMap(({ toolCalls }) => toolCalls),
    toolResults: steps.flatMap(({ toolResults }) => toolResults),
    finishReason: steps.at(-1)?.finishReason ?? 'stop',
    usage: toTotalUsage(steps),
    output: result.status === 'completed' ? result.output : undefined,
  };
}

function toRequest<TOOLS extends ToolSet>(
  { toolCallId, toolName, input, approvalId }: PendingQuestion,
  runId: string,
): ContentPart<TOOLS> {
  return {
    type: 'tool-approval-request',
    approvalId: approvalId ?? formatApprovalId(runId, toolCallId),
    toolCall: { type: 'tool-call', toolCallId, toolName, input },
  } as ContentPart<TOOLS>;
}
