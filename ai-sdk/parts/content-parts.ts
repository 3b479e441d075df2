import type { ChunkOf, Interruption, StreamChunk } from '../../protocol/chunk.js';
import { isReservedEventName, toEventPartType, toShownSessionId } from '../../protocol/ids.js';
import { toSource } from '../../protocol/reply-fold.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** Common fields of chunks that pages do not need. */
const BASE_FIELDS = new Set(['type', 'agentId', 'agentType', 'timestamp', 'undo']);

/**
 * Converts a control-flow chunk into a transient data part: `onData` sees it, the message does not
 * keep it. Undefined for other kinds of chunks and for kinds that this version does not know. Names of
 * such parts are reserved (`error` and `output` too, whose chunks have parts of their own and do not come here).
 */
export function toControlPart(chunk: ChunkOf<'stream_resync'>): UIStreamPart;
export function toControlPart(chunk: StreamChunk): UIStreamPart | undefined;
export function toControlPart(chunk: StreamChunk): UIStreamPart | undefined {
  const name = chunk.type.replaceAll('_', '-');
  if (!isReservedEventName(name)) return undefined;
  const fields = Object.entries(chunk).filter(([key]) => !BASE_FIELDS.has(key));
  const data: Record<string, unknown> = Object.fromEntries(fields);
  if ('subSessionId' in chunk) data.subSessionId = toShownSessionId(chunk.subSessionId);
  return { type: toEventPartType(name), data, transient: true };
}

/**
 * Converts a failure, with its code, into a part for `onData`. The `error` part has no code and
 * ends a client's response, so it is sent only for failures that the run does not survive.
 */
export function toFailurePart(chunk: ChunkOf<'error'>): UIStreamPart {
  const { error, code, recoverable, errorDetail } = chunk;
  const { retryable } = errorDetail ?? {};
  const data = { error, code, recoverable, retryable };
  return { type: 'data-error', data, transient: true };
}

/** Returns the mark of a message whose reply was cut, live and in history; null removes it. */
export function toInterruptedMetadata(stop: Interruption | undefined): Record<string, unknown> {
  return { helixInterrupted: stop === undefined ? null : { stop } };
}

/** Converts a tool's custom event, live and in history, into a part with the event's name. */
export function toEventPart({ eventName, data }: Pick<ChunkOf<'custom'>, 'eventName' | 'data'>): {
  type: `data-${string}`;
  data: unknown;
} {
  return { type: toEventPartType(eventName), data: data ?? null };
}

/** Converts a source or file of the model into a part with the keys that every client accepts. */
export function toSourcePart(
  chunk: ChunkOf<'source_url'> | ChunkOf<'source_document'> | ChunkOf<'file'>,
): UIStreamPart {
  if (chunk.type !== 'file') return toSource(chunk);
  const { url, mediaType, filename, providerMetadata } = chunk;
  const named = filename === undefined ? undefined : { helix: { filename } };
  const metadata = named === undefined ? providerMetadata : { ...providerMetadata, ...named };
  return { type: 'file', url, mediaType, providerMetadata: metadata };
}
