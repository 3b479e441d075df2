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

/** A model of the AI SDK, its id, or a function that returns either when needed. */
export type AgentModel = LanguageModel | (() => LanguageModel);

const Finite = must<number>('a number', Number.isFinite);

export const Prices = settings({
  inputPerMTok: Amount,
  outputPerMTok: Amount,
  /** Input read from the provider's cache. Default: `inputPerMTok`. */
  cachedPerMTok: Amount.optional(),
  /** Input written to the provider's cache. Default: `inputPerMTok`. */
  cacheWritePerMTok: Amount.optional(),
});

/** Prices in US dollars per million tokens. */
export interface Pricing extends Readonly<z.infer<typeof Prices>> {}

export const Model = must<AgentModel>(
  'a model of the AI SDK, its id, or a function that returns it',
  (value) => (typeof value === 'string' && value !== '') || isFunction(value) || isObject(value),
);

const Choice = settings({
  model: Model,
  /** Time limit to the first part of a reply, ms. Default: `stallTimeoutMs`. */
  firstPartMs: Duration.optional(),
  /** Time limit of one whole reply, ms. Default: no limit. */
  callMs: Duration.optional(),
  /** Requests to the model per step. Default: 2; last model: as many as fit into `retryForMs`. */
  maxTries: Count.optional(),
  /** Default: the agent's prices. */
  pricing: Prices.optional(),
});

/** One of an agent's models, with its limits before the next one is asked. */
export interface ModelChoice extends Readonly<z.infer<typeof Choice>> {}

type Models = AgentModel | readonly (AgentModel | ModelChoice)[];

/** A model, or a list of models and choices. */
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

/** Sampling settings, which steps may change. */
export const Sampling = {
  temperature: Finite.optional(),
  /** Maximum number of tokens that one model call may produce. */
  maxOutputTokens: Count.optional(),
  topP: Finite.optional(),
  topK: Finite.optional(),
  presencePenalty: Finite.optional(),
  frequencyPenalty: Finite.optional(),
  stopSequences: must<readonly string[]>('a list of strings', isTexts).optional(),
  seed: must<number>('a whole number', Number.isSafeInteger).optional(),
  /** Reasoning effort. */
  reasoning: must<NonNullable<LanguageModelV4CallOptions['reasoning']>>(
    'the name of an effort',
    (value) => typeof value === 'string',
  ).optional(),
};

/** Sampling settings of the AI SDK; providers ignore unknown ones. */
export interface SamplingSettings extends Readonly<z.infer<z.ZodObject<typeof Sampling>>> {}

export const ProviderOptions = must<Readonly<Record<string, JSONObject>>>(
  'an object of objects by provider: { openai: { … } }',
  (value) => isObject(value) && Object.values(value).every(isObject),
);

/** Settings of an agent's model calls. */
export const Llm = settings({
  /**
   * The agent's model. In a list, each model replaces those before it when they fail: the failed
   * step is withdrawn, and the next model is asked at once.
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
  /** Maximum cost of one call's output, US dollars; limits `maxOutputTokens` by the prices. */
  maxOutputUsd: PositiveAmount.optional(),
  /** Silence after which a model has failed, ms. Default: 2 minutes. */
  stallTimeoutMs: must<number>(
    'a number of milliseconds of at least 1',
    (value) => isAmount(value) && (value as number) >= 1,
  ).optional(),
  /** Time that one step retries a failing provider, ms. Default: 10 minutes. */
  retryForMs: must<number>('a number of milliseconds of at least 0', isAmount).optional(),
  /** Maximum number of requests per step. Default: as many as fit into `retryForMs`. */
  maxTries: Count.optional(),
});

/** Settings of model calls, in the author's form. */
export interface LlmSettings extends Readonly<z.infer<typeof Llm>> {}

/** The model of an agent, and the settings of its calls. */
export interface LlmConfig extends Omit<LlmSettings, 'model'> {
  /** First model of a list. */
  readonly model: AgentModel;
  /** All models of a list; absent for a single model. */
  readonly models?: readonly ModelChoice[];
}

/** Returns true for a model with settings; a plain model has `doStream`. */
export function isChoice(value: unknown): value is ModelChoice {
  return isObject(value) && 'model' in value && !('doStream' in value);
}

/** Normalizes a list of models in the settings. */
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
