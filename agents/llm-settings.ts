import type { JSONObject, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { LanguageModel } from 'ai';
import { z } from 'zod';
import {
  Amount,
  Count,
  Duration,
  Flag,
  isAmount,
  isFunction,
  isObject,
  isTexts,
  must,
  PositiveAmount,
  settings,
} from './fields.js';

/** A model of the AI SDK, its id, or a function that returns it and is called when it is needed. */
export type AgentModel = LanguageModel | (() => LanguageModel);

const Finite = must<number>('a number', Number.isFinite);

export const Prices = settings({
  inputPerMTok: Amount,
  outputPerMTok: Amount,
  /** Input read from the provider's cache. Default: as other input. */
  cachedPerMTok: Amount.optional(),
  /** Input written to the provider's cache. Default: as other input. */
  cacheWritePerMTok: Amount.optional(),
});

/** US dollars for a million tokens. */
export interface Pricing extends Readonly<z.infer<typeof Prices>> {}

export const Model = must<AgentModel>(
  'a model of the AI SDK, its id, or a function that returns it',
  (value) => (typeof value === 'string' && value !== '') || isFunction(value) || isObject(value),
);

const Choice = settings({
  model: Model,
  /** Until the first piece of its reply, ms. Default: `stallTimeoutMs`. */
  firstPartMs: Duration.optional(),
  /** For one whole reply, ms. Default: no limit. */
  callMs: Duration.optional(),
  /** Requests of one step to it. Default: 2; of the last model, as many as fit into `retryForMs`. */
  maxTries: Count.optional(),
  /** Default: that of the agent. */
  pricing: Prices.optional(),
});

/** One of an agent's models, with what it may take before the next one is asked. */
export interface ModelChoice extends Readonly<z.infer<typeof Choice>> {}

type Models = AgentModel | readonly (AgentModel | ModelChoice)[];

/** A model, or several, each of which may be a choice. */
const ModelOrModels = z
  .custom<Models>(() => true)
  .superRefine((value, context) => {
    const check = (schema: z.ZodType, given: unknown, at: number[] = []): void => {
      for (const { path, message } of schema.safeParse(given).error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [...at, ...path], message });
      }
    };
    if (!Array.isArray(value)) check(Model, value);
    else if (value.length === 0) context.addIssue({ code: 'custom', message: 'must name a model' });
    else if (value.length > 10) {
      context.addIssue({ code: 'custom', message: 'must name 10 models at most' });
    } else {
      for (const [at, each] of value.entries()) check(isChoice(each) ? Choice : Model, each, [at]);
    }
  });

/** How a model samples; steps may change it. */
export const Sampling = {
  temperature: Finite.optional(),
  /** Most tokens that one model call may produce. */
  maxOutputTokens: Count.optional(),
  topP: Finite.optional(),
  topK: Finite.optional(),
  presencePenalty: Finite.optional(),
  frequencyPenalty: Finite.optional(),
  stopSequences: must<readonly string[]>('a list of strings', isTexts).optional(),
  seed: must<number>('a whole number', Number.isSafeInteger).optional(),
  /** How hard a model thinks. */
  reasoning: must<NonNullable<LanguageModelV4CallOptions['reasoning']>>(
    'the name of an effort',
    (value) => typeof value === 'string',
  ).optional(),
};

/** How a model samples, as the AI SDK has it; providers ignore what they do not know. */
export interface SamplingSettings extends Readonly<z.infer<z.ZodObject<typeof Sampling>>> {}

export const ProviderOptions = must<Readonly<Record<string, JSONObject>>>(
  'an object of objects by provider: { openai: { … } }',
  (value) => isObject(value) && Object.values(value).every(isObject),
);

/** What an agent may set of its model calls. */
export const Llm = settings({
  /**
   * The agent's model. In a list each stands in for those before it when they fail: a step that fails
   * is withdrawn, and the next model is asked at once.
   */
  model: ModelOrModels,
  ...Sampling,
  /** Sent with each request to the provider. */
  headers: must<Readonly<Record<string, string | undefined>>>(
    'an object of strings',
    isHeaders,
  ).optional(),
  /** Passed on to the provider, keyed by provider name. */
  providerOptions: ProviderOptions.optional(),
  /** Asks the provider to hold the result of an `outputSchema` to its schema. Default: false. */
  strictOutput: Flag.optional(),
  /** Prices of tokens; without them a run's usage has no cost. */
  pricing: Prices.optional(),
  /** US dollars that the output of one model call may cost, by the prices: it bounds `maxOutputTokens`. */
  maxOutputUsd: PositiveAmount.optional(),
  /** A model that sends nothing for this long, in ms, has failed. Default: 2 minutes. */
  stallTimeoutMs: must<number>(
    'a number of milliseconds of at least 1',
    (value) => isAmount(value) && (value as number) >= 1,
  ).optional(),
  /** How long one step retries a failing provider, in ms. Default: 10 minutes. */
  retryForMs: must<number>('a number of milliseconds of at least 0', isAmount).optional(),
  /** Most requests of one step to the provider. Default: as many as fit into `retryForMs`. */
  maxTries: Count.optional(),
});

/** The settings of model calls as an author writes them. */
export interface LlmSettings extends Readonly<z.infer<typeof Llm>> {}

/** The model of an agent, and the settings of its calls. */
export interface LlmConfig extends Omit<LlmSettings, 'model'> {
  /** The first one, if there are several. */
  readonly model: AgentModel;
  /** All of them, if they were given as a list. */
  readonly models?: readonly ModelChoice[];
}

/** True for a model with settings of its own; a model itself answers. */
export function isChoice(value: unknown): value is ModelChoice {
  return isObject(value) && 'model' in value && !('doStream' in value);
}

/** The settings with a list of models in one form. */
export function toLlmConfig({ model, ...more }: LlmSettings): LlmConfig {
  if (!isList(model)) return { ...more, model };
  const models = model.map((each) => Object.freeze(isChoice(each) ? { ...each } : { model: each }));
  const [first] = models;
  if (first === undefined) throw new Error('a list of models has a first one');
  return { ...more, model: first.model, models: Object.freeze(models) };
}

function isList(model: Models): model is readonly (AgentModel | ModelChoice)[] {
  return Array.isArray(model);
}

function isHeaders(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.values(value).every((each) => each === undefined || typeof each === 'string')
  );
}
