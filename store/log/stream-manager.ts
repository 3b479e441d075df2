import type { StreamChunk } from '../../protocol/chunk.js';
import type { StreamStatus } from '../../protocol/run.js';
import type { StreamLog, TruncateOptions } from '../contract/log.js';

/**
 * The methods of the Helix stream protocol, on any `StreamLog`. A stream has the id of its session; streams can also be
 * used without sessions.
 *
 * Every method throws HelixError `validation_error` for a malformed id, step or sequence.
 */
export interface StreamManager extends StreamLog {
  /**
   * Opens a writer, and creates the stream if needed. Writers with different names write concurrently.
   *
   * @throws HelixError `writer_fenced` if the same or a later attempt of this name is open, `stream_ended` for a
   * session whose run has ended
   */
  createWriter: (
    streamId: string,
    agentId: string,
    agentType: string,
    options?: CreateWriterOptions,
  ) => Promise<StreamWriter>;
  /** Reads from the first stored chunk, then live. @throws HelixError `not_found` if the stream does not exist */
  createReader: (streamId: string, options?: ReaderOptions) => Promise<StreamReader>;
  /** Reads chunks after a sequence, then live; null if the stream does not exist or has failed. */
  createResumableReader: (
    streamId: string,
    options?: ResumableReaderOptions,
  ) => Promise<ResumableStreamReader | null>;
  /** Ends a stream that belongs to no run. @throws HelixError `stream_owned`, `not_found` */
  endStream: (streamId: string, finalOutput?: unknown) => Promise<void>;
  /** Ends a stream that belongs to no run with a failure; readers get its text. */
  failStream: (streamId: string, error: string) => Promise<void>;
  /** Pauses the stream: readers end, and writes are refused until it is resumed. */
  pauseStream: (streamId: string) => Promise<void>;
  resumeStream: (streamId: string) => Promise<void>;
  getStreamInfo: (streamId: string) => Promise<StreamInfo | null>;
  getAllChunks: (streamId: string) => Promise<StreamChunk[]>;
  /** Chunks of this step and later ones of the newest turn. */
  getChunksFromStep: (streamId: string, step: number) => Promise<StreamChunk[]>;
  /** Chunks after a sequence (exclusive). */
  getChunksFromSequence: (streamId: string, sequence: number) => Promise<StreamChunk[]>;
  /**
   * Removes chunks of steps above `step`; attached readers get a StreamTruncatedError. Step numbers
   * restart in each turn, so pass the start of the turn as `minSequence` unless earlier turns
   * should be cut as well. Returns the number of removed chunks.
   */
  cleanupToStep: (streamId: string, step: number, options?: TruncateOptions) => Promise<number>;
}

export interface CreateWriterOptions {
  /** Name under which attempts replace each other. Default: a unique name, which is never replaced. */
  name?: string;
  /** A higher attempt withdraws what lower ones wrote and fences them off. Default 1. */
  attempt?: number;
}

export interface StreamWriter {
  /**
   * Resolves when the chunk is stored. Writes keep their order.
   *
   * @throws HelixError `invalid_chunk`, `chunk_too_large`, `writer_fenced`, `stream_paused`, `rewound`
   */
  write: (chunk: StreamChunk) => Promise<void>;
  /** Waits until everything is stored; later writes are refused with `writer_closed`. */
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

/** State that a reader keeps up to date while it is read. A reader can be read once. */
export interface ReaderState {
  /** Status at which it ended, or `active`. */
  readonly status: StreamStatus;
  /** Sequence of the last chunk returned. */
  readonly currentSequence: number;
  /** Number of entries in the stream when the reader was created. */
  readonly totalChunks: number;
  /** Set if the stream has failed. */
  readonly error?: string | undefined;
}

/** Ends at the first pause or end after its start. @throws StreamTruncatedError, HelixError as StreamLog.follow */
export interface StreamReader extends ReaderState, AsyncIterable<StreamChunk> {
  /** Ends the reader and releases its resources. */
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
  /** Number of stored chunks; may be lower than the number written. */
  totalChunks: number;
  latestSequence: number;
  error?: string;
}

/** Returns the sequence for a checkpoint: the stream's newest; 0 before its first chunk. */
export async function resolveCheckpointStreamSequence(
  streamManager: Pick<StreamManager, 'getStreamInfo'>,
  streamId: string,
): Promise<number> {
  return (await streamManager.getStreamInfo(streamId))?.latestSequence ?? 0;
}
