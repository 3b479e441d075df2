import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { StreamStatus } from '../../protocol/run.js';
import type { Writer } from '../../session/input.js';

export type { Writer } from '../../session/input.js';

/** Meters what one reader reads, page by page. */
export interface ReadMeter {
  /** The next page is read once it resolves. @throws HelixError if the reader may not read more now */
  take: (bytes: number) => Promise<void>;
}

/**
 * The log of a stream's messages: fenced appends, reads by position, a live tail. A store
 * implements this; `StreamManager` builds the public API on it.
 */
export interface StreamLog {
  /**
   * Makes the writer the owner of its name and withdraws the entries of lower tokens. Creates the stream if needed and
   * reopens an ended one; only a session's runs open its stream. Repeating the call with the same `nonce` returns the
   * same writer. An equal token with another nonce is refused, since both would use the same batch numbers.
   */
  openWriter: (writer: Writer, nonce: string, now: number) => Promise<OpenWriterResult>;
  /** Releases the writer. No later attempt withdraws its entries. */
  closeWriter: (writer: Writer) => Promise<{ kind: 'closed' | 'fenced' }>;
  /**
   * Appends under the writer's claim. `batch` counts the writer's appends from 1. A batch that was stored before
   * returns its first reply, so a connection may safely resend what was in flight. `known` is the highest sequence that
   * the writer has seen; a store behind it was restored from a backup.
   *
   * @throws HelixError `invalid_chunk`, `chunk_too_large`; nothing is stored then
   */
  append: (
    writer: Writer,
    batch: number,
    messages: StreamMessage[],
    known?: number,
  ) => Promise<AppendResult>;
  /**
   * Entries after `fromSequence` (exclusive), at most `limit`. `joinUpTo` is the highest sequence returned; with it,
   * adjacent deltas of a block may be joined under the sequence of the last one, so a replay need not parse most of the
   * log.
   *
   * @throws HelixError `corrupt_record` if an entry cannot be parsed
   */
  read: (
    streamId: string,
    fromSequence: number,
    limit: number,
    joinUpTo?: number,
  ) => Promise<LogEntry[]>;
  /**
   * Whole pages of the running step after `fromSequence` that the log keeps in replay form, in order; only the first
   * ones if there are many. Gaps between and after them are read as entries.
   */
  keptPages: (streamId: string, fromSequence: number) => Promise<KeptPage[]>;
  /**
   * Entries after `fromSequence`, first from the log and then live, in order, each once. Entries that arrive together
   * are one array. Ends when the signal fires.
   *
   * @throws HelixError `rewound` if the store is older than what was already returned, `corrupt_record`, `unavailable`
   * if the store stays unreachable for longer than a follower can wait
   */
  follow: (
    streamId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncIterable<LogEntry[]>;
  /** Status and sequence of the stream, read at one moment. */
  inspect: (streamId: string) => Promise<LogPosition | undefined>;
  /** Changes the status of a stream that no run owns. */
  mark: (streamId: string, mark: StreamMark, now: number) => Promise<MarkResult>;
  /** Removes chunks of steps above `step` and informs attached readers. */
  truncate: (
    streamId: string,
    step: number,
    options: TruncateOptions,
    now: number,
  ) => Promise<TruncateResult>;
  /**
   * Calls back with the run id when a stop is requested in this session's conversation. Resolves
   * once listening. A message may arrive late, when another run is already active.
   */
  onStop: (sessionId: string, listener: (runId: string) => void) => Promise<() => void>;
}

/** All entries of a range of sequences, with adjacent deltas of a block joined. */
export interface KeptPage {
  from: number;
  to: number;
  entries: LogEntry[];
}

/** `runId` of a writer that belongs to no run. */
export const NO_RUN = '*';

export type OpenWriterResult =
  | { kind: 'opened'; sequence: number }
  | { kind: 'fenced' }
  /** The stream of a session whose run has ended. */
  | { kind: 'ended' };

export type AppendResult =
  | { kind: 'appended'; sequence: number; stopRequested: boolean }
  /** The writer belongs to another attempt, or has no owner. */
  | { kind: 'fenced' }
  /** The run has ended, or another run owns the session. */
  | { kind: 'superseded' }
  /** The stream is paused. */
  | { kind: 'closed' }
  /** The store is older than what it had confirmed to this writer. Nothing may be written over the gap. */
  | { kind: 'rewound' };

export interface LogPosition {
  status: StreamStatus;
  /** Sequence of the newest entry that was ever written. */
  sequence: number;
  /** Number of chunks in the log now, without control messages. */
  chunks: number;
  /** Sequence before the newest turn's first entry; 0 for a stream without runs. */
  turnStartSequence: number;
  error?: string;
}

export type StreamMark =
  | { status: 'ended'; finalOutput?: unknown }
  | { status: 'failed'; error: string }
  | { status: 'paused' }
  | { status: 'active' };

/** `owned`: a run is active, and only its changes pause and end the stream. */
export interface MarkResult {
  kind: 'marked' | 'unchanged' | 'owned' | 'not_found';
}

export interface TruncateResult {
  removed: number;
  /** Highest sequence of the stream before the removal. */
  atSequence: number;
  /** Sequence of the last removed chunk; 0 if nothing was removed. */
  lastRemoved: number;
}

export interface TruncateOptions {
  /** Chunks up to this sequence stay, whatever their step. */
  minSequence?: number;
  /** Only chunks of this agent. */
  agentId?: string;
}
