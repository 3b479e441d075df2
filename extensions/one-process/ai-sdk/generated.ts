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
 * What a call of the agent has generated, in the fields of AI SDK 7: calls, results, content and usage
 * of all steps of the call, and the text of the last one. Requests for approvals stand at the end of
 * `content`.
 */
export interface Generated<
  TOOLS extends ToolSet,
  OUTPUT extends OutputInterface = never,
> extends Pick<OfAiSdk<TOOLS>, OfAllSteps | OfLastStep> {
  /** Undefined if the call has made no step, as when it answered one of several questions. */
  readonly finalStep: StepResult<TOOLS> | undefined;
  /** For the next call. They stand for the conversation while they are the same objects. */
  readonly responseMessages: ModelMessage[];
  /** Of the last step; `messages` as AI SDK 6 has them. */
  readonly response: Partial<Omit<OfAiSdk<TOOLS>['response'], 'messages'>> & {
    readonly messages: ModelMessage[];
  };
  /** The result of an agent with an `output`; undefined while people are asked. */
  readonly output: [OUTPUT] extends [never] ? unknown : InferGenerateOutput<OUTPUT>;
  /** What people are asked: approvals, and calls of tools without `execute`. */
  readonly pending: readonly PendingQuestion[];
  readonly sessionId: string;
  readonly runId: string;
}

/** The end of a call: its result, and of its last step what the AI SDK gives beside it. */
export type CallEnd<TOOLS extends ToolSet> = Generated<TOOLS> &
  Partial<Pick<StepResult<TOOLS>, 'stepNumber' | 'model' | 'performance'>>;

/** The fields of a result, each of which a stream has as a promise. */
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
 * @param given rows of it that an earlier call has given back, and calls whose results the program has
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
  // The prompt's messages are messages of the AI SDK, in their most explicit form.
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

/** As in the AI SDK, an agent without an `output` has its last text as one. */
function toOutput(
  { outputSchema }: AgentDefinition,
  result: AgentResult,
  last: StepRecord | undefined,
): unknown {
  if (outputSchema === undefined) return last?.text;
  return result.status === 'completed' ? result.output : undefined;
}

/** Number of the newest step in these rows; undefined for rows without a step. Pure. */
export function lastStepOf(rows: readonly Row[]): number | undefined {
  const row = rows.findLast(
    (each) => each.role === 'assistant' && each.display !== true && each.interrupted === undefined,
  );
  return row?.role === 'assistant' ? row.step : undefined;
}

/** The same for the callback of the call's end, with what the AI SDK gives beside it. Pure. */
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

/** Of a call that has made no step. */
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
