import type { Transformed } from './stream-transformer.js';
import type { UIStreamPart } from './ui-stream-part.js';
import { formatSse } from './sse.js';

/**
 * Collects events into SSE text. The id of a chunk goes onto its last event, so that a reader who
 * was cut in the middle of it gets it again; adjacent deltas of one block become one event.
 */
export class FrameWriter {
  #text = '';
  #pending: UIStreamPart | undefined;
  #sequence: number | undefined;

  add({ events, sequence }: Pick<Transformed, 'events' | 'sequence'>): void {
    const last = events.length - 1;
    for (const [index, event] of events.entries()) {
      const id = index === last ? sequence : undefined;
      if (index === last && this.#pending !== undefined && joinDeltas(this.#pending, event)) {
        this.#sequence = id;
        continue;
      }
      this.#flush();
      this.#pending = event;
      this.#sequence = id;
    }
  }

  /** About how much there is to take, in characters; 0 if nothing. */
  get size(): number {
    return this.#text.length + (this.#pending === undefined ? 0 : 1 + sizeOf(this.#pending));
  }

  /** The text so far; the writer is empty afterwards. */
  take(): string {
    this.#flush();
    const text = this.#text;
    this.#text = '';
    return text;
  }

  #flush(): void {
    if (this.#pending === undefined) return;
    this.#text += formatSse(this.#pending, this.#sequence);
    this.#pending = undefined;
  }
}

/** Only deltas grow while they wait. */
function sizeOf(part: UIStreamPart): number {
  if (part.type === 'tool-input-delta') return part.inputTextDelta.length;
  return part.type === 'text-delta' || part.type === 'reasoning-delta' ? part.delta.length : 0;
}

/** Adds `next` to `target` if both are deltas of one block. */
function joinDeltas(target: UIStreamPart, next: UIStreamPart): boolean {
  if (target.type === 'tool-input-delta') {
    if (next.type !== target.type || next.toolCallId !== target.toolCallId) return false;
    target.inputTextDelta += next.inputTextDelta;
    return true;
  }
  if (target.type !== 'text-delta' && target.type !== 'reasoning-delta') return false;
  if (next.type !== target.type || next.id !== target.id) return false;
  target.delta += next.delta;
  return true;
}
