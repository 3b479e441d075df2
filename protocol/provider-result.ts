import type { ShownMetadata } from './chunk.js';
import { LIMITS } from './limits.js';
import type { AssistantPart } from './rows.js';

type ProviderResult = Pick<Extract<AssistantPart, { type: 'tool-result' }>, 'output' | 'isError'>;

/** Chunk limit, less some room for the fields that all chunks have. */
const MAX_SHOWN_BYTES = LIMITS.chunkBytes - 2 * 1024;

/**
 * Converts the result of a provider's call to the form that people see, live and in history. A
 * result that no chunk can hold is kept for the provider alone, and shown as null.
 */
export function toShownResult({ output, isError }: ProviderResult): {
  result: unknown;
  error?: string;
} {
  const json = JSON.stringify(output ?? null);
  if (isError === true) {
    const text = typeof output === 'string' ? output : (deniedReason(output) ?? json);
    return { result: null, error: text.slice(0, LIMITS.errorTextBytes / 4) };
  }
  return { result: isTooLargeToShow(output) ? null : (output ?? null) };
}

/** Returns the metadata that viewers get: none if it is too long. Pure. */
export function toShownMetadata(metadata: object | undefined): {
  providerMetadata?: ShownMetadata;
} {
  if (metadata === undefined) return {};
  const isShort = JSON.stringify(metadata).length <= LIMITS.shownMetadataChars;
  return isShort ? { providerMetadata: metadata as ShownMetadata } : {};
}

export function isTooLargeToShow(value: unknown): boolean {
  return new TextEncoder().encode(JSON.stringify(value ?? null)).length > MAX_SHOWN_BYTES;
}

/** Returns the reason for denying a provider's call; undefined for other results. */
export function deniedReason(output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { type, reason } = output as { type?: unknown; reason?: unknown };
  return type === 'execution-denied' && typeof reason === 'string' ? reason : undefined;
}

const LINKS: ReadonlySet<string> = new Set(['http:', 'https:']);
const FILES: ReadonlySet<string> = new Set([...LINKS, 'data:']);

/**
 * True for a URL that a page may link to, or show as a file. `javascript:` and similar schemes
 * would run in the page, and a path would refer to the page's own server.
 */
export function isShownUrl(type: 'source_url' | 'file', url: string): boolean {
  if (!URL.canParse(url)) return false;
  return (type === 'file' ? FILES : LINKS).has(new URL(url).protocol);
}
