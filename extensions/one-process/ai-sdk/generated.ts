import type {
  ContentPart,
  GenerateTextResult,
  InferGenerateOutput,
  ModelMessage,
  OutputInterface,
  StepResult,
  ToolSet,
} from 'ai';
import type { AgentDefinition } from '../../../agents/index.js';
import type { StepRecord } from '../../../agents/step-hooks.js';
import {
  toAllSteps,
  toFinishEvent,
  toStepRecords,
} from '../../../activities/model/step-records.js';
import { toPrompt } from '../../../activities/model/prompt.js';
import type { AgentResult } from '../../../runs/run-result.js';
import type { PendingQuestion } from '../../../protocol/http.js';
import type { Row } from '../../../protocol/rows.js';

type OfAiSdk<TOOLS extends ToolSet> = GenerateTextResult<TOOLS, Record<string, unknown>, never>;

type OfAllSteps = keyof ReturnType<typeof toAllSteps>;
type OfLastStep =
  | ('text' | 'reasoning' | 'reasoningText' | 'request')
  | ('finishReason' | 'rawFinishReason' | 'providerMetadata');

/**
 * Result of a call in the fields of AI SDK 7: calls, results, content and usage of all its steps, and the
 * text of the last one. Approval requests are at the end of `content`.
 */
export interface Generated<
  TOOLS extends ToolSet,
  OUTPUT extends OutputInterface = never,
> extends Pick<OfAiSdk<TOOLS>, OfAllSteps | OfLastStep> {
  /** Undefined if the call made no step, for example because it answered one of several questions. */
  readonly finalStep: StepResult<TOOLS> | undefined;
  /** Messages for the next call. The same objects identify the conversation. */
  readonly responseMessages: ModelMessage[];
  /** Response of the last step, with `messages` as in AI SDK 6. */
  readonly response: Partial<Omit<OfAiSdk<TOOLS>['response'], 'messages'>> & {
    readonly messages: ModelMessage[];
  };
  /** Result of an agent with an `output`; undefined while questions are pending. */
  readonly output: [OUTPUT] extends [never] ? unknown : InferGenerateOutput<OUTPUT>;
  /** Pending questions: approvals, and calls of tools without `execute`. */
  readonly pending: readonly PendingQuestion[];
  readonly sessionId: string;
  readonly runId: string;
}

/** End of a call: its result with the fields of the last step that the AI SDK adds. */
export type CallEnd<TOOLS extends ToolSet> = Generated<TOOLS> &
  Partial<Pick<StepResult<TOOLS>, 'stepNumber' | 'model' | 'performance'>>;

/** Fields of a result; a stream has a promise for each. */
export const FIELDS = [
  'text',
  'content',
  'reasoning',
  'reasoningText',
  'files',
  'sources',
  'steps',
  'toolCalls',
  'staticToolCalls',
  'dynamicToolCalls',
  'toolResults',
  'staticToolResults',
  'dynamicToolResults',
  'finishReason',
  'rawFinishReason',
  'usage',
  'totalUsage',
  'warnings',
  'providerMetadata',
  'finalStep',
  'request',
  'responseMessages',
  'response',
  'output',
  'pending',
  'sessionId',
  'runId',
] satisfies (keyof Generated<ToolSet>)[];

/**
 * Pure.
 *
 * @param turn  rows of the turn
 * @param given rows that an earlier call returned, and calls whose results the program has
 */
export function toGenerated<TOOLS extends ToolSet, OUTPUT extends OutputInterface>(
  agent: AgentDefinition,
  turn: readonly Row[],
  result: AgentResult,
  given: { rows: number; results: ReadonlySet<string> },
): Generated<TOOLS, OUTPUT> {
  const messageId = turn.findLast((row) => row.role === 'assistant')?.messageId ?? '';
  const before = toStepRecords(agent, turn.slice(0, given.rows), messageId).length;
  const steps = toStepRecords(agent, turn, messageId).slice(before);
  const finalStep = steps.at(-1);
  const pending = 'pending' in result ? result.pending : [];
  const { sessionId, runId } = result;
  const requests = pending.flatMap((question) =>
    question.kind === 'approval' ? [toRequest<TOOLS>(question)] : [],
  );
  const fresh = turn
    .slice(given.rows)
    .filter(
      (row) =>
        row.role === 'assistant' ||
        (row.role === 'tool' && row.isEnd !== true && !given.results.has(row.toolCallId)),
    );
  // The prompt's messages are AI SDK messages in their most explicit form.
  const responseMessages = toPrompt('', fresh) as ModelMessage[];
  const { id, modelId, timestamp } = finalStep?.response ?? {};
  const all = toAllSteps(steps);
  const ofLast = Object.fromEntries(
    OF_LAST_STEP.map((field) => [field, finalStep?.[field] ?? WITHOUT_STEP[field]]),
  );
  return {
    ...all,
    ...ofLast,
    finalStep,
    content: [...all.content, ...requests],
    pending,
    sessionId,
    runId,
    responseMessages,
    response: { id, modelId, timestamp, messages: responseMessages },
    output: toOutput(agent, result, finalStep),
  } as unknown as Generated<TOOLS, OUTPUT>;
}

/** Returns the output. As in the AI SDK, an agent without an `output` has its last text as output. */
function toOutput(
  { outputSchema }: AgentDefinition,
  result: AgentResult,
  last: StepRecord | undefined,
): unknown {
  if (outputSchema === undefined) return last?.text;
  return result.status === 'completed' ? result.output : undefined;
}

/** Returns the number of the newest step in these rows; undefined if there is none. Pure. */
export function lastStepOf(rows: readonly Row[]): number | undefined {
  const row = rows.findLast(
    (each) => each.role === 'assistant' && each.display !== true && each.interrupted === undefined,
  );
  return row?.role === 'assistant' ? row.step : undefined;
}

/** Adds the last step's fields that the AI SDK passes to the callback of the call's end. Pure. */
export function toCallEnd<TOOLS extends ToolSet>(
  generated: Generated<TOOLS>,
  step: number,
): CallEnd<TOOLS> {
  const { sessionId, runId } = generated;
  const steps = generated.steps as unknown as StepRecord[];
  const last = steps.at(-1);
  const event = last && toFinishEvent(steps, last, { sessionId, runId, step });
  return { ...event, ...generated };
}

const OF_LAST_STEP = [
  'text',
  'reasoning',
  'reasoningText',
  'request',
  'finishReason',
  'rawFinishReason',
  'providerMetadata',
] as const;

/** Fields of a call that made no step. */
const WITHOUT_STEP: Partial<Record<OfLastStep, unknown>> = {
  text: '',
  reasoning: [],
  finishReason: 'stop',
  request: {},
};

function toRequest<TOOLS extends ToolSet>({
  toolCallId,
  toolName,
  input,
  approvalId,
}: PendingQuestion): ContentPart<TOOLS> {
  return {
    type: 'tool-approval-request',
    approvalId,
    toolCall: { type: 'tool-call', toolCallId, toolName, input },
  } as ContentPart<TOOLS>;
}
