import { ReadableStream } from 'node:stream/web';
import {
  toTextStream,
  toUIMessageStream,
  type AsyncIterableStream,
  type ContentPart,
  type GenerateTextResult,
  type InferGenerateOutput,
  type InferUIMessageChunk,
  type ModelMessage,
  type OutputInterface,
  type StepResult,
  type TextStreamPart,
  type ToolSet,
  type UIMessage,
  type UIMessageStreamOptions,
} from 'ai';
import type { AgentDefinition } from '../../../agents/index.js';
import type { StepRecord } from '../../../agents/step-hooks.js';
import {
  LISTS,
  toAllSteps,
  toFinishEvent,
  toStepRecords,
} from '../../../activities/model/step-records.js';
import { toMessages } from '../../../activities/model/prompt.js';
import type { AgentResult } from '../../../runs/run-result.js';
import type { PendingQuestion } from '../../../protocol/replies.js';
import type { Row } from '../../../protocol/rows.js';
import type { RunError } from '../../../protocol/run.js';
import type { Part } from './text-parts.js';

/** Thrown for a run that failed or was stopped (`interrupted`). */
export class AgentRunError extends Error {
  override readonly name = 'AgentRunError';
  readonly code: string;
  readonly retryable: boolean;
  /** The conversation, which keeps everything written until then. */
  readonly sessionId: string;

  constructor({ code, message, retryable }: RunError, sessionId: string) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.sessionId = sessionId;
  }
}

type OfAiSdk<TOOLS extends ToolSet> = GenerateTextResult<TOOLS, Record<string, unknown>, never>;

const OF_LAST_STEP = [
  'text',
  'reasoning',
  'reasoningText',
  'request',
  'finishReason',
  'rawFinishReason',
  'providerMetadata',
] as const;
type OfLastStep = (typeof OF_LAST_STEP)[number];
type OfAllSteps = keyof ReturnType<typeof toAllSteps>;

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
const FIELDS: readonly (keyof Generated<ToolSet>)[] = [
  ...LISTS,
  'usage',
  'totalUsage',
  'steps',
  ...OF_LAST_STEP,
  'finalStep',
  'responseMessages',
  'response',
  'output',
  'pending',
  'sessionId',
  'runId',
];

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
  const responseMessages = toMessages(fresh).messages as ModelMessage[];
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

/** A streamed reply. Its promises reject if the run fails. */
export type GeneratedStream<TOOLS extends ToolSet, OUTPUT extends OutputInterface = never> = {
  readonly [Field in keyof Generated<TOOLS>]: Promise<Generated<TOOLS, OUTPUT>[Field]>;
} & {
  /**
   * Parts of all steps, and of a failure. Throws `rewound` if a step whose parts were already given begins
   * again; the promises still resolve with the complete reply.
   */
  readonly stream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** Same as `stream`. */
  readonly fullStream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** The text alone. */
  readonly textStream: AsyncIterableStream<string>;
  /** Waits for the end of the call, which goes on whether or not its streams are read. */
  readonly consumeStream: () => Promise<void>;
  /** UI message chunks for `readUIMessageStream`. Serve a chat page with `handleChatStream` instead. */
  readonly toUIMessageStream: <MESSAGE extends UIMessage = UIMessage>(
    options?: UIMessageStreamOptions<MESSAGE>,
  ) => AsyncIterableStream<InferUIMessageChunk<MESSAGE>>;
};

/**
 * @param read begins another stream of the run's parts up to the given end
 */
export function toGeneratedStream<TOOLS extends ToolSet, OUTPUT extends OutputInterface>(
  done: Promise<Generated<TOOLS, OUTPUT>>,
  read: (last: Promise<Part>) => AsyncIterable<Part>,
  { tools, signal }: { tools: TOOLS; signal: AbortSignal | undefined },
): GeneratedStream<TOOLS, OUTPUT> {
  const last = done.then(
    ({ finishReason, rawFinishReason, usage }): Part => ({
      type: 'finish',
      finishReason,
      rawFinishReason,
      totalUsage: usage,
    }),
    (error: unknown): Part => (signal?.aborted ? { type: 'abort' } : { type: 'error', error }),
  );
  const promises = FIELDS.map((field) => {
    const value = done.then((generated) => generated[field]);
    // A caller may await only one of the promises; the others must not count as unhandled.
    value.catch(() => undefined);
    return [field, value] as const;
  });
  const open = () => ReadableStream.from(read(last)) as unknown as AsyncIterableStream<Part>;
  const stream = { get: open, enumerable: true };
  return Object.defineProperties(Object.fromEntries(promises), {
    stream,
    fullStream: stream,
    textStream: { get: () => toTextStream({ stream: open() }), enumerable: true },
    // As in the AI SDK, a failure rejects the promises, not this one.
    consumeStream: { value: () => last.then(() => undefined), enumerable: true },
    toUIMessageStream: {
      value: (options: object = {}) => toUIMessageStream({ ...options, stream: open(), tools }),
      enumerable: true,
    },
  }) as unknown as GeneratedStream<TOOLS, OUTPUT>;
}
