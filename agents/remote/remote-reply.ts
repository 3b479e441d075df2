import type { StreamChunk } from '../../protocol/chunk.js';

/** What may be shown of a remote agent. How its run goes (steps, pauses, checkpoints) is its own. */
const SHOWN: ReadonlySet<string> = new Set([
  'text_delta',
  'thinking',
  'tool_arg_stream_start',
  'tool_arg_stream_delta',
  'tool_arg_stream_end',
  'tool_start',
  'tool_end',
  'tool_input_error',
  'tool_output_error',
  'custom',
  'source_url',
  'source_document',
  'file',
] satisfies StreamChunk['type'][]);

const ID_CHARS = 256;

/**
 * A remote chunk as the parent's stream carries it: in the parent's step, its calls under ids that
 * cannot meet those of the parent. Undefined for what is not shown. Pure.
 */
export function toParentChunk(
  chunk: StreamChunk,
  { toolCallId, step }: { toolCallId: string; step: number },
): StreamChunk | undefined {
  if (!SHOWN.has(chunk.type)) return undefined;
  if (!('toolCallId' in chunk)) return { ...chunk, step };
  const own = `${toolCallId}/${String(chunk.toolCallId)}`.slice(-ID_CHARS);
  return { ...chunk, step, toolCallId: own };
}

/** The text of a run's newest step: what it says last is its answer. */
export class RemoteText {
  readonly #sessionId: string;
  #text = '';
  #isStale = false;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  accept(chunk: StreamChunk): void {
    if (chunk.agentId !== this.#sessionId) return;
    if (chunk.type === 'step_start') this.#isStale = true;
    if (chunk.type === 'step_discarded') this.#text = '';
    if (chunk.type !== 'text_delta') return;
    if (this.#isStale) this.#text = '';
    this.#isStale = false;
    this.#text += chunk.delta;
  }

  toString(): string {
    return this.#text;
  }
}
