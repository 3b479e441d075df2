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
 * A step in the AI SDK's form, read from the transcript: `request` is empty, and an imported step
 * has no usage. `performance` covers the reply alone, without tools; unknown values are 0, empty or
 * undefined.
 */
export type StepRecord = StepResult<ToolSet>;

/** Ends the run after this step if true; runs once its calls are settled. AI SDK shape. */
export type StopCondition = (options: { steps: StepRecord[] }) => boolean | PromiseLike<boolean>;

/** One condition, or several of which any ends the run. Errors: `stop_condition_failed`. */
export type StopWhen = StopCondition | readonly StopCondition[];

/** A call from the model; `input` is JSON text. */
export interface ModelToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
}

/** Repairs a call without a known tool or a fitting input; null leaves it. AI SDK shape. */
export type RepairToolCall = (options: {
  toolCall: ModelToolCall;
  tools: ToolSet;
  inputSchema: (options: { toolName: string }) => PromiseLike<JSONSchema7>;
  instructions: Instructions;
  system: Instructions;
  messages: ModelMessage[];
  error: NoSuchToolError | InvalidToolInputError;
}) => ModelToolCall | null | PromiseLike<ModelToolCall | null>;

/** Place of an event; a repeated call of a hook has the same one. */
export interface HookPlace {
  readonly sessionId: string;
  readonly runId: string;
  /** Step of the turn, from 1. */
  readonly step: number;
}

export type StepFinishEvent = StepRecord & HookPlace;
/** All steps' usage, content, and calls, and the last one's text and response, as in AI SDK 7. */
export type FinishEvent = StepRecord &
  HookPlace & {
    readonly steps: StepRecord[];
    /** The same as `usage`. */
    readonly totalUsage: StepRecord['usage'];
    readonly finalStep: StepRecord;
    /** Messages that all steps added to the conversation. */
    readonly responseMessages: ModelMessage[];
  };

/**
 * Called when a step is stored. Results of its tools follow later; the next step's `prepareStep`
 * has them. Runs once per step, and again only if the worker dies meanwhile: recognize repetitions
 * by `runId` and `step`. Errors are logged, and a call is not awaited for more than 10 s.
 */
export type OnStepFinish = (event: StepFinishEvent) => unknown;

/** Called in the same way when a run has completed, but not if it was stopped or failed. */
export type OnFinish = (event: FinishEvent) => unknown;

/** Instructions; messages can carry `providerOptions`, such as a cache point. */
export type Instructions = string | SystemModelMessage | readonly SystemModelMessage[];
