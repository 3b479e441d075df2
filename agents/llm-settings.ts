import { z } from 'zod';
import {
  Amount,
  Duration,
  Flag,
  isAmount,
  isCount,
  isFunction,
  isObject,
  isTexts,
  must,
  PositiveAmount,
  settings,
} from './fields.js';
import { isChoice } from './model-choices.js';

const Finite = must('a number', Number.isFinite);

export const Prices = settings({
  inputPerMTok: Amount,
  outputPerMTok: Amount,
  cachedPerMTok: Amount.optional(),
  cacheWritePerMTok: Amount.optional(),
});

export const Model = must('a model of the AI SDK, its id, or a function that returns it', isModel);

const Models = z
  .array(
    z.unknown().superRefine((value, context) => {
      const parsed = (isChoice(value) ? Choice : Model).safeParse(value);
      for (const { path, message } of parsed.error?.issues ?? []) {
        context.addIssue({ code: 'custom', path, message });
      }
    }),
  )
  .min(1, 'must name a model')
  .max(10, 'must name 10 models at most');

const Choice = settings({
  model: Model,
  firstPartMs: Duration.optional(),
  callMs: Duration.optional(),
  maxTries: must('a whole number above 0', isCount).optional(),
  pricing: Prices.optional(),
});

/** How a model samples; steps may change it. */
export const Sampling = {
  temperature: Finite.optional(),
  maxOutputTokens: must('a whole number above 0', isCount).optional(),
  topP: Finite.optional(),
  topK: Finite.optional(),
  presencePenalty: Finite.optional(),
  frequencyPenalty: Finite.optional(),
  stopSequences: must('a list of strings', isTexts).optional(),
  seed: must('a whole number', Number.isSafeInteger).optional(),
  reasoning: must('the name of an effort', (value) => typeof value === 'string').optional(),
};

/** What an agent may set of its model calls. */
export const Llm = settings({
  model: z.unknown().superRefine((value, context) => {
    const parsed = (Array.isArray(value) ? Models : Model).safeParse(value);
    for (const { path, message } of parsed.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path, message });
    }
  }),
  ...Sampling,
  headers: must('an object of strings', isHeaders).optional(),
  providerOptions: must(
    'an object of objects by provider: { openai: { … } }',
    (value) => isObject(value) && Object.values(value).every(isObject),
  ).optional(),
  strictOutput: Flag.optional(),
  pricing: Prices.optional(),
  maxOutputUsd: PositiveAmount.optional(),
  stallTimeoutMs: must(
    'a number of milliseconds of at least 1',
    (value) => isAmount(value) && (value as number) >= 1,
  ).optional(),
  retryForMs: must('a number of milliseconds of at least 0', isAmount).optional(),
  maxTries: must('a whole number above 0', isCount).optional(),
});

function isModel(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || isFunction(value) || isObject(value);
}

function isHeaders(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.values(value).every((each) => each === undefined || typeof each === 'string')
  );
}
