import type { LanguageModelV4 } from '@ai-sdk/provider';
import { gateway, wrapLanguageModel, type LanguageModelMiddleware } from 'ai';
import type { LlmConfig } from './llm-settings.js';

/**
 * The model of an agent, always at version 4 of the language-model specification, ready for
 * `doStream`. Models of versions 2 and 3 are lifted; an id goes to the AI SDK's default provider.
 *
 * @param middleware put around the model once, however often the model comes back here
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
  // Also without middleware: the wrapper lifts older versions.
  const lifted = wrapLanguageModel({ model: object, middleware: [...middleware] });
  if (object.specificationVersion !== 'v4') older.add(lifted);
  wrapped.set(lifted, middleware);
  return lifted;
}

const wrapped = new WeakMap<LanguageModelV4, readonly LanguageModelMiddleware[]>();
const older = new WeakSet<LanguageModelV4>();

/** True for a model of version 2 or 3, whose package sends a format and tools together to services that refuse both. */
export function isOlderModel(model: LanguageModelV4): boolean {
  return older.has(model);
}
