import type {
  InvalidToolInputError,
  JSONSchema7,
  ModelMessage,
  NoSuchToolError,
  StepResult,
  ToolSet,
  SystemModelMessage,
} from 'ai';

/**
 * A step as the AI SDK describes it. It is read from the transcript: `request` is empty, and a step
 * that was made elsewhere has no usage. `performance` has the times of the reply
 * alone, without those of tools; what is not known is 0, empty or undefined.
 */
export type StepRecord = StepResult<ToolSet>;

/** True ends the run after this step; asked when the step's calls are settled. Shape of the AI SDK. */
export type StopCondition = (options: { steps: StepRecord[] }) => boolean | PromiseLike<boolean>;

/** One condition, or several of which any ends the run. An error fails it: `stop_condition_failed`. */
export type StopWhen = StopCondition | readonly StopCondition[];

/** A call as the model made it; `input` is JSON text. */
export interface ModelToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
}

/** Mends a call that names no tool, or whose input does not fit; null leaves it. Shape of the AI SDK. */
export type RepairToolCall = (options: {
  toolCall: ModelToolCall;
  tools: ToolSet;
  inputSchema: (options: { toolName: string }) => PromiseLike<JSONSchema7>;
  instructions: Instructions;
  system: Instructions;
  messages: ModelMessage[];
  error: NoSuchToolError | InvalidToolInputError;
}) => ModelToolCall | null | PromiseLike<ModelToolCall | null>;

/** Where something happened; the same when a hook is called again for it. */
export interface HookPlace {
  readonly sessionId: string;
  readonly runId: string;
  /** Step of the turn, from 1. */
  readonly step: number;
}

export type StepFinishEvent = StepRecord & HookPlace;
/** As in AI SDK 7: usage, content and calls are those of all steps, text and response of the last one. */
export type FinishEvent = StepRecord &
  HookPlace & {
    readonly steps: StepRecord[];
    /** The same as `usage`. */
    readonly totalUsage: StepRecord['usage'];
    readonly finalStep: StepRecord;
    /** What all steps added to the conversation. */
    readonly responseMessages: ModelMessage[];
  };

/**
 * Called when a step is stored. Results of its tools follow later: the next step's `prepareStep` has
 * them. Once for each step, and again only if the worker dies meanwhile: tell repetitions by `runId`
 * and `step`. What it throws is logged, and a call of more than 10 s is not waited for.
 */
export type OnStepFinish = (event: StepFinishEvent) => unknown;

/** The same when a run has completed; not for runs that were stopped or have failed. */
export type OnFinish = (event: FinishEvent) => unknown;

/** Instructions; messages can carry `providerOptions`, such as a cache point. */
export type Instructions = string | SystemModelMessage | readonly SystemModelMessage[];
