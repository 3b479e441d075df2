import type { LogEntry, StreamChunk } from '../../protocol/chunk.js';
import { StreamTruncatedError } from '../../protocol/errors.js';
import type { StreamStatus } from '../../protocol/run.js';
import type { LogPosition, StreamLog } from '../contract/log.js';
import type { ReaderState, StoredChunk } from './stream-manager.js';
import { readPages, toStoredChunk } from './read-all.js';

interface ReaderInput {
  log: StreamLog;
  streamId: string;
  fromSequence: number;
  /** Position of the stream when the reader was created. */
  position: LogPosition;
  signal: AbortSignal | undefined;
  onOpen: (reader: ChunkSource) => void;
  onClose: (reader: ChunkSource) => void;
}

/**
 * Reads the chunks of a stream. A paused or ended stream is read up to its current position. On an
 * active stream, pauses and ends before that position are skipped, and the first one after it ends
 * the reader.
 */
export class ChunkSource implements ReaderState {
  readonly totalChunks: number;
  readonly #input: ReaderInput;
  readonly #abort = new AbortController();
  readonly #stored: AsyncGenerator<StoredChunk, void, undefined>;
  #status: StreamStatus = 'active';
  #error: string | undefined;
  #currentSequence: number;
  #truncation: StreamTruncatedError | undefined;

  constructor(input: ReaderInput) {
    this.#input = input;
    this.totalChunks = input.position.chunks;
    this.#currentSequence = input.fromSequence;
    this.#stored = this.#read();
  }

  get status(): StreamStatus {
    return this.#status;
  }

  get currentSequence(): number {
    return this.#currentSequence;
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** Chunks with their sequences; every call returns the same iterator. */
  stored(): AsyncGenerator<StoredChunk, void, undefined> {
    return this.#stored;
  }

  async *chunks(): AsyncGenerator<StreamChunk, void, undefined> {
    try {
      for await (const { chunk } of this.#stored) yield chunk;
    } finally {
      await this.close();
    }
  }

  /** Chunks were removed, possibly some that this reader has buffered. */
  truncate(atStep: number, atSequence: number, lastRemoved: number): void {
    if (lastRemoved <= this.#input.fromSequence) return;
    this.#truncation = new StreamTruncatedError(this.#input.streamId, atStep, atSequence);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#input.onClose(this);
    await Promise.resolve();
  }

  async *#read(): AsyncGenerator<StoredChunk, void, undefined> {
    const { signal, onOpen } = this.#input;
    onOpen(this);
    const leave = (): void => {
      this.#abort.abort();
    };
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    try {
      for await (const entries of this.#entries()) {
        for (const entry of entries) {
          if (this.#abort.signal.aborted) return;
          if (this.#truncation !== undefined) throw this.#truncation;
          const stored = toStoredChunk(entry);
          if (stored !== undefined) {
            this.#currentSequence = entry.sequence;
            yield stored;
          }
          if (this.#isLast(entry)) return;
        }
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      await this.close();
    }
  }

  #entries(): AsyncIterable<LogEntry[]> {
    const { log, streamId, fromSequence, position } = this.#input;
    if (position.status === 'active') {
      return log.follow(streamId, fromSequence, this.#abort.signal);
    }
    return this.#resting(readPages(log, streamId, fromSequence));
  }

  async *#resting(pages: AsyncIterable<LogEntry[]>): AsyncGenerator<LogEntry[], void, undefined> {
    const { position } = this.#input;
    for await (const page of pages) {
      const beyond = page.find(({ sequence }) => sequence > position.sequence);
      yield page.filter(
        ({ sequence, message }) =>
          sequence <= position.sequence || message.type === 'stream_truncated',
      );
      if (beyond !== undefined) break;
    }
    this.#status = position.status;
    this.#error = position.error;
  }

  /** Updates the status from a log entry; true if the reader ends here. */
  #isLast({ sequence, writer, message }: LogEntry): boolean {
    if (sequence <= this.#input.position.sequence) return false;
    switch (message.type) {
      case 'stream_truncated':
        this.truncate(message.truncatedAtStep, message.atSequence, message.lastRemoved);
        if (this.#truncation !== undefined) throw this.#truncation;
        return false;
      case 'stream_end':
        this.#status =
          message.status === 'failed' || message.status === 'aborted' ? 'failed' : 'ended';
        this.#error = message.error;
        return true;
      case 'stream_status':
        if (message.status !== 'paused') return false;
        this.#status = 'paused';
        return true;
      case 'run_paused':
        // Written by the store itself, so the run paused, and not only one of its sub-agents.
        if (writer !== '') return false;
        this.#status = 'paused';
        return true;
      default:
        return false;
    }
  }
}
