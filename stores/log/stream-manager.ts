import type { StreamChunk } from '../../protocol/chunk.js';
import type { StreamStatus } from '../../protocol/run.js';
import type { StreamLog, TruncateOptions } from '../contract/log.js';

/**
 * Streams as the Helix stream protocol knows them, over any `StreamLog`. A stream's id is that of
 * its session; streams without a session may be used by themselves.
 *
 * Every method throws HelixError `validation_error` for an id, step or sequence that is none.
 */
export interface StreamManager extends StreamLog {
  /**
   * Opens a writer, and the stream if there is none. Writers of different names write side by side.
   *
   * @throws HelixError `writer_fenced` if the same or a later attempt of this name is open, `stream_ended`
   * for a session whose run has ended
   */
  createWriter: (
    streamId: string,
    agentId: string,
    agentType: string,
    options?: CreateWriterOptions,
  ) => Promise<StreamWriter>;
  /** Reads from the first chunk that is kept, then live; null if there is no such stream. */
  createReader: (streamId: string, options?: ReaderOptions) => Promise<StreamReader | null>;
  /** Reads what follows a sequence, then live; null if there is no such stream or it has failed. */
  createResumableReader: (
    streamId: string,
    options?: ResumableReaderOptions,
  ) => Promise<ResumableStreamReader | null>;
  /** Ends a stream that no run owns. @throws HelixError `stream_owned`, `not_found` */
  endStream: (streamId: string, finalOutput?: unknown) => Promise<void>;
  /** As endStream, with a failure that readers are told of. */
  failStream: (streamId: string, error: string) => Promise<void>;
  /** Readers end; writes are refused until it is resumed. */
  pauseStream: (streamId: string) => Promise<void>;
  resumeStream: (streamId: string) => Promise<void>;
  getStreamInfo: (streamId: string) => Promise<StreamInfo | null>;
  getAllChunks: (streamId: string) => Promise<StreamChunk[]>;
  /** Chunks of this step and later ones, of the newest turn. */
  getChunksFromStep: (streamId: string, step: number) => Promise<StreamChunk[]>;
  /** Chunks after a sequence (exclusive). */
  getChunksFromSequence: (streamId: string, sequence: number) => Promise<StreamChunk[]>;
  /**
   * Removes chunks of steps above `step`; readers that were attached get a StreamTruncatedError.
   * Steps count anew in each turn, so pass the turn's start as `minSequence` unless earlier turns
   * are to be cut as well. Returns how many chunks were removed.
   */
  cleanupToStep: (streamId: string, step: number, options?: TruncateOptions) => Promise<number>;
}

export interface CreateWriterOptions {
  /** Name under which attempts replace each other. Default: one of its own, never replaced. */
  name?: string;
  /** A higher attempt withdraws what lower ones left and fences them off. Default 1. */
  attempt?: number;
}

export interface StreamWriter {
  /**
   * Resolves when the chunk is stored. Writes keep their order.
   *
   * @throws HelixError `invalid_chunk`, `chunk_too_large`, `writer_fenced`, `stream_paused`, `rewound`
   */
  write: (chunk: StreamChunk) => Promise<void>;
  /** Waits for what was written; later writes are refused with `writer_closed`. */
  close: () => Promise<void>;
}

export interface ReaderOptions {
  /** Ends the reader. */
  signal?: AbortSignal;
}

export interface ResumableReaderOptions extends ReaderOptions {
  /** Exclusive; default 0. */
  fromSequence?: number;
}

/** What all readers tell while they are read. A reader is read once. */
export interface ReaderState {
  /** Where it ended, or `active`. */
  readonly status: StreamStatus;
  /** Sequence of the chunk handed out last. */
  readonly currentSequence: number;
  /** Entries of the stream when the reader was made. */
  readonly totalChunks: number;
  /** Set when the stream has failed. */
  readonly error?: string | undefined;
}

/** Ends at a pause or end beyond its start. @throws StreamTruncatedError, HelixError as StreamLog.follow */
export interface StreamReader extends ReaderState, AsyncIterable<StreamChunk> {
  /** Ends the reader and frees what it holds. */
  close: () => Promise<void>;
}

export interface StoredChunk {
  chunk: StreamChunk;
  sequence: number;
}

export interface ResumableStreamReader extends ReaderState, AsyncIterable<StoredChunk> {
  close: () => Promise<void>;
}

export interface StreamInfo {
  status: StreamStatus;
  /** Chunks that are kept; may be fewer than were written. */
  totalChunks: number;
  latestSequence: number;
  error?: string;
}
