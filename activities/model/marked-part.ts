import type { AssistantPart } from '../../protocol/rows.js';

/** Parts with metadata of the provider, which it wants back with the next call. */
export type MarkedPart = Extract<
  AssistantPart,
  { type: 'text' | 'reasoning' | 'tool-call' | 'tool-result' | 'file' }
>;

const MARKED = new Set<AssistantPart['type']>([
  ...(['text', 'reasoning', 'tool-call', 'tool-result', 'file'] as const),
]);

function isMarked(part: AssistantPart): part is MarkedPart {
  return MARKED.has(part.type);
}

/**
 * A provider's metadata comes with a block's start, its deltas or its end; the newest counts. It
 * goes back to the provider with the next call.
 */
export function keepMetadata(part: MarkedPart | undefined, metadata: unknown): void {
  if (part !== undefined && metadata !== undefined) {
    part.providerMetadata = metadata as NonNullable<MarkedPart['providerMetadata']>;
  }
}

/** The newest part that can have metadata, if it is of this type. */
export function newestMarked(
  parts: readonly AssistantPart[],
  type: MarkedPart['type'],
): MarkedPart | undefined {
  const part = parts.findLast(isMarked);
  return part?.type === type ? part : undefined;
}
