import type { LanguageModelV4 } from '@ai-sdk/provider';
import { gateway, wrapLanguageModel, type LanguageModelMiddleware } from 'ai';
import type { LlmConfig } from './llm-settings.js';

/**
 * Returns an agent's model at version 4 of the language-model specification, ready for `doStream`.
 * Models of versions 2 and 3 are lifted; an id goes to the AI SDK's default provider.
 *
 * @param middleware wraps the model once, even if the result is passed in again
 */
export function resolveModel(
  model: LlmConfig['model'],
  middleware: readonly LanguageModelMiddleware[] = [],
): LanguageModelV4 {
  const made = typeof model === 'function' ? model() : model;
  const object =
    typeof made === 'string'
      ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(made)
      : made;
  if (object.specificationVersion === 'v4' && wrapped.get(object) === middleware) return object;
  // Needed even without middleware: the wrapper lifts older versions.
  const lifted = wrapLanguageModel({ model: object, middleware: [...middleware] });
  if (object.specificationVersion !== 'v4' || older.has(object)) older.add(lifted);
  wrapped.set(lifted, middleware);
  return lifted;
}

const wrapped = new WeakMap<LanguageModelV4, readonly LanguageModelMiddleware[]>();
const older = new WeakSet<LanguageModelV4>();

/** Returns true for versions 2 and 3, whose packages send a format with tools to any service. */
export function isOlderModel(model: LanguageModelV4): boolean {
  return older.has(model);
}
