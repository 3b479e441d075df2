import type { StreamStatus } from '../../../protocol/run.js';
import type { AppendResult, MarkResult, OpenWriterResult } from '../../contract/log.js';

/** An entry that must be readable. */
export interface ModelEntry {
  sequence: number;
  /** '' for the store itself. */
  writer: string;
  /** Text of a chunk, or type of the store's own entry. */
  says: string;
  step: number;
}

interface Attempt {
  token: number;
  batch: number;
  /** Sequence of the newest batch. */
  confirmed: number;
  /** Sequence at which the writer was opened. */
  first: number;
}

/** Reference model of a stream: a list of entries and its writers. */
export class StreamModel {
  entries: ModelEntry[] = [];
  /** All entries ever written, by sequence. */
  readonly written = new Map<number, ModelEntry>();
  sequence = 0;
  status: StreamStatus | undefined;
  readonly #owners = new Map<string, Attempt>();

  open(name: string, token: number, step: number): OpenWriterResult {
    const owner = this.#owners.get(name);
    if (owner?.token === token) return { kind: 'opened', sequence: this.sequence };
    if (owner !== undefined && owner.token > token) return { kind: 'fenced' };
    if (owner !== undefined) {
      const stays = this.entries.filter(
        ({ writer, sequence }) => writer !== name || sequence <= owner.first,
      );
      const withdrawn = this.entries.length - stays.length;
      this.entries = stays;
      this.#write('', 'step_discarded', step);
      if (withdrawn > 0) this.#write('', 'stream_resync', step);
    }
    this.#owners.set(name, { token, batch: 0, confirmed: 0, first: this.sequence });
    if (this.status !== 'paused') this.status = 'active';
    return { kind: 'opened', sequence: this.sequence };
  }

  close(name: string, token: number): { kind: 'closed' | 'fenced' } {
    const owner = this.#owners.get(name);
    if (owner !== undefined && owner.token !== token) return { kind: 'fenced' };
    this.#owners.delete(name);
    return { kind: 'closed' };
  }

  append(
    name: string,
    token: number,
    batch: number,
    texts: readonly string[],
    step: number,
    known = 0,
  ): AppendResult {
    const owner = this.#owners.get(name);
    const isOwner = owner?.token === token;
    if (isOwner && owner.batch >= batch) return appended(owner.confirmed);
    if (this.sequence < known) return { kind: 'rewound' };
    if (!isOwner) return { kind: 'fenced' };
    if (owner.batch !== batch - 1) return { kind: 'rewound' };
    if (this.status === 'paused') return { kind: 'closed' };
    for (const text of texts) this.#write(name, text, step);
    owner.batch = batch;
    owner.confirmed = this.sequence;
    return appended(this.sequence);
  }

  mark(to: StreamStatus): MarkResult {
    if (this.status === undefined) return { kind: 'not_found' };
    const isOver = this.status === 'ended' || this.status === 'failed';
    if (isOver || this.status === to) return { kind: 'unchanged' };
    this.#write('', to === 'ended' || to === 'failed' ? 'stream_end' : 'stream_status', CONTROL);
    this.status = to;
    if (to === 'ended' || to === 'failed') this.#owners.clear();
    return { kind: 'marked' };
  }

  /** Removes chunks and returns their number. */
  truncate(step: number, minSequence: number): number {
    const stays = this.entries.filter(
      (entry) => entry.step <= step || entry.sequence <= minSequence,
    );
    const removed = this.entries.length - stays.length;
    this.entries = stays;
    if (removed > 0) this.#write('', 'stream_truncated', CONTROL);
    return removed;
  }

  /** Number of the attempt's next batch. */
  nextBatch(name: string, token: number): number {
    const owner = this.#owners.get(name);
    return owner?.token === token ? owner.batch + 1 : 1;
  }

  #write(writer: string, says: string, step: number): void {
    this.sequence += 1;
    const entry = { sequence: this.sequence, writer, says, step };
    this.entries.push(entry);
    this.written.set(entry.sequence, entry);
  }
}

/** Control messages belong to no step. */
export const CONTROL = 0;

function appended(sequence: number): AppendResult {
  return { kind: 'appended', sequence, stopRequested: false };
}
