import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { StreamStatus } from '../../protocol/run.js';

/**
 * The log of a stream's messages: fenced appends, reads by position, a live tail. What a store has
 * to bring; `StreamManager` adds the forms that are made of it.
 */
export interface StreamLog {
  /**
   * Makes the writer the owner of its name: a higher token withdraws what lower ones of that name
   * left since they were opened; creates the stream if there is none, and opens one that has ended.
   * The stream of a session is opened by its runs only. The same `nonce` opens the same writer again;
   * with another one an equal token is refused, as two would count their batches alike.
   */
  openWriter: (writer: Writer, nonce: string, now: number) => Promise<OpenWriterResult>;
  /** What the writer wrote stays: no later attempt withdraws it. */
  closeWriter: (writer: Writer) => Promise<{ kind: 'closed' | 'fenced' }>;
  /**
   * Appends under the writer's claim. `batch` counts the writer's appends from 1: one seen before
   * returns its first reply, so a connection may safely send again what was in flight. `known` is
   * the highest sequence that the writer was told; a store that has less was restored.
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
   * Entries after `fromSequence` (exclusive), at most `limit`.
   *
   * @throws HelixError `corrupt_record` for an entry that is none
   */
  read: (streamId: string, fromSequence: number, limit: number) => Promise<LogEntry[]>;
  /**
   * Entries after `fromSequence`, first from the log and then live, in order, each once. Ends when
   * the signal fires. Reports what arrived together as one array.
   *
   * @throws HelixError `rewound` when the store has become older than what was handed out,
   * `corrupt_record`, `unavailable` when it stays out of reach for longer than a follower can wait
   */
  follow: (
    streamId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncIterable<LogEntry[]>;
  /** Where the stream stands; status and sequence are of one moment. */
  inspect: (streamId: string) => Promise<LogPosition | undefined>;
  /** Changes the status of a stream that no run owns. */
  mark: (streamId: string, mark: StreamMark, now: number) => Promise<MarkResult>;
  /** Removes chunks of steps above `step`; tells attached readers. */
  truncate: (
    streamId: string,
    step: number,
    options: TruncateOptions,
    now: number,
  ) => Promise<TruncateResult>;
  /**
   * Calls back with the run when a stop is asked for in this session's conversation. Resolves once
   * listening. A message may come late, when another run is active.
   */
  onStop: (sessionId: string, listener: (runId: string) => void) => Promise<() => void>;
}

/** Identity of a writer: a higher token fences lower ones off. */
export interface Writer {
  sessionId: string;
  runId: string;
  /** `m<step>` or `t:<toolCallId>`. */
  name: string;
  token: number;
  /** Who speaks: the base fields of the chunks that the store writes by itself. */
  agentType: string;
  /** Default: the session's id. */
  agentId?: string;
  step: number;
}

/** `runId` of a writer that belongs to no run. */
export const NO_RUN = '*';

export type OpenWriterResult =
  | { kind: 'opened'; sequence: number }
  | { kind: 'fenced' }
  /** A session's stream, whose run has ended. */
  | { kind: 'ended' };

export type AppendResult =
  | { kind: 'appended'; sequence: number; stopRequested: boolean }
  /** Another attempt owns the writer, or nobody does. */
  | { kind: 'fenced' }
  /** The run has ended, or another one owns the session. */
  | { kind: 'superseded' }
  /** The stream is paused. */
  | { kind: 'closed' }
  /** The store is older than what this writer was told: nothing may be written over the gap. */
  | { kind: 'rewound' };

export interface LogPosition {
  status: StreamStatus;
  /** Sequence of the newest entry ever. */
  sequence: number;
  /** Chunks in the log now, control messages not counted. */
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

/** `owned`: a run is at work; its transitions alone pause and end the stream. */
export interface MarkResult {
  kind: 'marked' | 'unchanged' | 'owned' | 'not_found';
}

export interface TruncateResult {
  removed: number;
  /** Highest sequence of the stream before. */
  atSequence: number;
  /** Sequence of the last removed chunk; 0 if there was none. */
  lastRemoved: number;
}

export interface TruncateOptions {
  /** Chunks up to this sequence stay, whatever their step. */
  minSequence?: number;
  /** Only chunks of this agent. */
  agentId?: string;
}
