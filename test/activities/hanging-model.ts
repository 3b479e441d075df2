import type { APICallError, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { apiError, parts } from '../support/fake-model.js';

const { text } = parts;

/** A refusal that names the time after which the provider is asked again. */
export function rateLimited(retryAfterMs = 1): APICallError {
  return apiError(429, {
    message: 'slow down',
    responseHeaders: { 'retry-after-ms': String(retryAfterMs) },
  });
}
/** Says some words, then hangs until its signal fires, or forever. */
export async function* hangAfter(
  spoken: LanguageModelV4StreamPart[],
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield* spoken;
  await new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
}
export const open = (spoken: string): LanguageModelV4StreamPart[] => text(spoken).slice(0, -1);
