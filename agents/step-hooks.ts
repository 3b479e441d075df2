import type {
  InvalidToolInputError,
  JSONSchema7,
  ModelMessage,
  NoSuchToolError,
  StepResult,
  ToolSet,
  SystemModelMessage,
  LanguageModel,
} from 'ai';
import type { z } from 'zod';
import type { Usage } from '../protocol/chunk.js';
import { assertSettings } from './definition-error.js';
import { isObject, isTexts, must, settings } from './fields.js';
import { Model, ProviderOptions, Sampling, type Pricing } from './llm-settings.js';

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

/** The tool that the model must or may call. */
export type ToolChoice =
  'auto' | 'none' | 'required' | { readonly type: 'tool'; readonly toolName: string };

export const ToolChoice = must<ToolChoice>(
  `'auto', 'none', 'required' or { type: 'tool', toolName }`,
  (value) => {
    if (!isObject(value)) return value === 'auto' || value === 'none' || value === 'required';
    return 'toolName' in value && typeof value.toolName === 'string' && value.toolName !== '';
  },
);

export const ToolNames = must<readonly string[]>('a list of names of tools', isTexts);

export function isInstructions(value: unknown): value is Instructions {
  if (Array.isArray(value)) return value.every((each) => isObject(each) && isInstructions(each));
  if (!isObject(value)) return typeof value === 'string';
  return 'role' in value && value.role === 'system' && 'content' in value;
}

const CONTEXT = 'the services of the worker: toolContextOf(options).services';
const OwnInstructions = must<Instructions>('a string, or system messages', isInstructions);

/** Checked at run time, since values may come from plain JavaScript. */
const Fields = settings(
  {
    ...Sampling,
    /** Messages for the model, in place of the stored ones, which do not change. */
    messages: must<ModelMessage[]>('a list of messages', Array.isArray).optional(),
    model: Model.optional(),
    /** System prompt of this step; `system` is its older name. */
    instructions: OwnInstructions.optional(),
    system: OwnInstructions.optional(),
    toolChoice: ToolChoice.optional(),
    /** Names of the tools that the model may call in this step. */
    activeTools: ToolNames.optional(),
    /** Merged deeply; undefined keeps the agent's. */
    providerOptions: ProviderOptions.optional(),
  },
  {
    tools: 'activeTools',
    toolOrder: 'the order of the agent’s tools',
    toolsContext: CONTEXT,
    runtimeContext: CONTEXT,
    experimental_context: CONTEXT,
    headers: 'headers of the agent’s llmConfig',
    stopWhen: 'stopWhen of the agent',
    maxRetries: 'llmConfig: { maxTries } of the agent',
  },
);

/** Changes of `prepareStep`; omitted fields stay unchanged. */
export interface PreparedStep extends Readonly<Omit<z.infer<typeof Fields>, 'model'>> {
  readonly model?: LanguageModel;
}

/** A summary that replaces the oldest messages of a conversation. */
export interface CompactedMessages {
  /** Number of messages that the summary replaces. */
  readonly messages: number;
  readonly summary: string;
}

/** What a summary has used. */
interface CompactionUsage {
  readonly usage?: Usage | undefined;
  /** Default: the agent's prices. */
  readonly pricing?: Pricing | undefined;
}

/** A summary with its usage. */
export interface MadeCompaction extends CompactedMessages, CompactionUsage {}

/** A summary that failed after its model had answered. */
export interface FailedCompaction extends CompactionUsage {
  readonly failure: string;
}

/** Store of a conversation's summaries. */
export interface CompactionRecord {
  /** Newest summary. */
  readonly kept: CompactedMessages | undefined;
  /**
   * Makes and stores a summary, unless this step already has one. If `make` fails or takes more
   * than `timeoutMs`, it logs that and returns `undefined`. Keeps at most 32,000 characters. Usage counts in either case.
   *
   * @throws DefinitionError for a blank summary, or one that replaces no message or all of them
   */
  readonly keep: (
    make: (
      signal: AbortSignal,
    ) => MadeCompaction | FailedCompaction | PromiseLike<MadeCompaction | FailedCompaction>,
    timeoutMs: number,
  ) => Promise<CompactedMessages | undefined>;
}

/** The input of `prepareStep`. */
export interface PrepareStepOptions {
  /** Messages for the model, without the system prompt; must not be changed in place. */
  readonly messages: ModelMessage[];
  /** Step of the turn, from 1. */
  readonly step: number;
  /** Step from 0, as in the AI SDK. */
  readonly stepNumber: number;
  /** The turn's steps so far, with the results of their calls. */
  readonly steps: StepRecord[];
  readonly model: LanguageModel;
  readonly instructions: Instructions;
  readonly initialInstructions: Instructions;
  /** Messages before the turn's reply; `responseMessages` holds those of the reply. */
  readonly initialMessages: ModelMessage[];
  readonly responseMessages: ModelMessage[];
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's own state. */
  readonly state: unknown;
  /** Untrusted metadata that the sender set on the message that the turn answers. */
  readonly messageMetadata: unknown;
  /** Fires when the runtime no longer waits for the result. */
  readonly signal: AbortSignal;
  /** Summary of the oldest messages, as `compaction` uses it. */
  readonly compaction: CompactionRecord;
}

/**
 * Called before each model call; the AI SDK defines name and shape. It may return the result of the
 * AI SDK's `pruneMessages`. The runtime then removes calls without a result and results without a
 * call, which providers refuse. An error of this function ends the run as `context_hook_failed`.
 */
export type PrepareStep = (
  options: PrepareStepOptions,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>;

/**
 * Returns the fields that are set, under their newer names.
 *
 * @throws DefinitionError for fields that would silently have no effect, and for wrong values
 */
export function toChanges(returned: PreparedStep | undefined): PreparedStep {
  const set: PreparedStep = Object.fromEntries(
    Object.entries(returned ?? {}).filter(([, value]) => value !== undefined),
  );
  assertSettings(Fields, set, { call: 'prepareStep' });
  const { system, instructions = system, ...others } = set;
  return instructions === undefined ? others : { ...others, instructions };
}
