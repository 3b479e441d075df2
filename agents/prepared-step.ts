import type { LanguageModel, ModelMessage } from 'ai';
import type { z } from 'zod';
import type { Usage } from '../protocol/chunk.js';
import { assertSettings } from './definition-error.js';
import { isObject, isTexts, must, settings } from './fields.js';
import type { Instructions, StepRecord } from './step-hooks.js';
import { Model, ProviderOptions, Sampling, type Pricing } from './llm-settings.js';

/** Which tool the model must or may call. */
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

/** Its values may come from plain JavaScript. */
const Fields = settings(
  {
    ...Sampling,
    /** The messages that the model gets instead. Nothing that is stored changes. */
    messages: must<ModelMessage[]>('a list of messages', Array.isArray).optional(),
    model: Model.optional(),
    /** The system prompt of this step; `system` is its older name. */
    instructions: OwnInstructions.optional(),
    system: OwnInstructions.optional(),
    toolChoice: ToolChoice.optional(),
    /** Names of the tools that the model may call in this step. */
    activeTools: ToolNames.optional(),
    /** Added to those of the agent. */
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

/** The changes of `prepareStep`; fields that it leaves out stay as they are. */
export interface PreparedStep extends Readonly<Omit<z.infer<typeof Fields>, 'model'>> {
  /** The model of this step. */
  readonly model?: LanguageModel;
}

/** A summary in place of the oldest messages of a conversation. */
export interface CompactedMessages {
  /** Number of messages that it stands for. */
  readonly messages: number;
  readonly summary: string;
}

/** What a summary took, beside the summary. */
export interface MadeCompaction extends CompactedMessages {
  readonly usage?: Usage | undefined;
  /** Default: the agent's prices. */
  readonly pricing?: Pricing | undefined;
}

/** Where summaries of a conversation are kept. */
export interface CompactionRecord {
  /** The newest one. */
  readonly kept: CompactedMessages | undefined;
  /**
   * Has a summary made, unless this step has one already, and stores it. A function that fails, or takes
   * more than `timeoutMs`, is logged and gives `undefined`. Of a summary, 32,000 characters are kept.
   *
   * @throws DefinitionError for one that is blank, or that stands for no message or for all of them
   */
  readonly keep: (
    make: (signal: AbortSignal) => MadeCompaction | PromiseLike<MadeCompaction>,
    timeoutMs: number,
  ) => Promise<CompactedMessages | undefined>;
}

/** The input of `prepareStep`. */
export interface PrepareStepOptions {
  /** The messages that the model would get, without the system prompt; not to be changed in place. */
  readonly messages: ModelMessage[];
  /** Step of the turn, from 1. */
  readonly step: number;
  /** The same from 0, as the AI SDK counts. */
  readonly stepNumber: number;
  /** The turn's steps so far, with the results of their calls. */
  readonly steps: StepRecord[];
  /** The agent's model. */
  readonly model: LanguageModel;
  /** The agent's system prompt. */
  readonly instructions: Instructions;
  readonly initialInstructions: Instructions;
  /** Those of the messages that precede the turn's reply, and those of the reply. */
  readonly initialMessages: ModelMessage[];
  readonly responseMessages: ModelMessage[];
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's own state. */
  readonly state: unknown;
  /** Metadata of the message that the turn answers, as its sender set them: not to be trusted. */
  readonly messageMetadata: unknown;
  /** Fires when the result is no longer waited for. */
  readonly signal: AbortSignal;
  /** A summary that stands for the oldest messages, as `compaction` uses it. */
  readonly compaction: CompactionRecord;
}

/**
 * Called before each model call; name and shape are those of the AI SDK. It may return the result
 * of the AI SDK's `pruneMessages`. Calls without a result and results without a call are removed
 * afterwards, since providers refuse them. An error of this function ends the run as
 * `context_hook_failed`.
 */
export type PrepareStep = (
  options: PrepareStepOptions,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>;

/**
 * What a `prepareStep` returned, without fields that are undefined.
 *
 * @throws DefinitionError for fields that would silently have no effect, and for wrong values
 */
export function checkPreparedStep(returned: PreparedStep): PreparedStep {
  const set = Object.entries(returned).filter(([, value]) => value !== undefined);
  const changes: PreparedStep = Object.fromEntries(set);
  assertSettings(Fields, changes, { call: 'prepareStep' });
  return changes;
}
