import { LIMITS } from './limits.js';
import type { AssistantPart } from './rows.js';

type ProviderResult = Pick<Extract<AssistantPart, { type: 'tool-result' }>, 'output' | 'isError'>;

/** Of a chunk's size, a little is left for the fields that all chunks have. */
const MAX_SHOWN_BYTES = LIMITS.chunkBytes - 2 * 1024;

/**
 * The result of a call that the provider has executed, as people see it: live and in history alike.
 * One that no chunk can hold is kept for the provider alone, and shown as null.
 */
export function toShownResult({ output, isError }: ProviderResult): {
  result: unknown;
  error?: string;
} {
  const json = JSON.stringify(output ?? null);
  if (isError === true) {
    const text = typeof output === 'string' ? output : json;
    return { result: null, error: text.slice(0, LIMITS.errorTextBytes / 4) };
  }
  const isLarge = new TextEncoder().encode(json).length > MAX_SHOWN_BYTES;
  return { result: isLarge ? null : (output ?? null) };
}
