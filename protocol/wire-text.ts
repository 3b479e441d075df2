import { CHUNK_TYPES } from './chunk.js';
import { HelixError } from './errors.js';
import { StreamEvent, type WireEvent } from './wire-events.js';

/** JSON does not escape these characters, and some readers treat them as line ends. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/** The SSE text of an event. Its data is always one line. Pure. */
export function formatWireEvent({ id, event }: WireEvent): string {
  const data = JSON.stringify(event).replace(
    LINE_BREAKS,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${id === undefined ? '' : `id: ${String(id)}\n`}data: ${data}\n\n`;
}

const EVENT_TYPES: ReadonlySet<string> = new Set(
  StreamEvent.options.map((option) => option.shape.type.value),
);

/**
 * Parses the data of an SSE event; undefined if the event or its chunk has a type that this version
 * does not know, which readers skip.
 *
 * @throws HelixError `validation_error` if the data is not JSON or not a valid event of its type
 */
export function parseStreamEvent(data: string): StreamEvent | undefined {
  const value = parseJson(data);
  const type = typeOf(value);
  if (type === undefined) throw malformed('It has no type.');
  if (!EVENT_TYPES.has(type)) return undefined;
  if (type === 'chunk') {
    const chunkType = typeOf((value as { chunk?: unknown }).chunk);
    if (chunkType !== undefined && !CHUNK_TYPES.has(chunkType)) return undefined;
  }
  const checked = StreamEvent.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw malformed(`${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed('It is not JSON.', error);
  }
}

function typeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  return typeof value.type === 'string' ? value.type : undefined;
}

function malformed(reason: string, cause?: unknown): HelixError {
  return new HelixError('validation_error', 'This is not a stream event.', {
    detail: { reason },
    cause,
  });
}
