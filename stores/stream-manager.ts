import type { LogEntry, StreamMessage } from '../protocol/chunk.js';
import type { Writer } from './session-store.js';

/** The log of a session's chunks: fenced appends, reads by position, and a live tail. */
export interface StreamManager {
  /**
   * Appends under the writer's claim. `batch` counts the writer's appends from 1: one seen before
   * returns its first reply, so a connection may safely send again what was in flight.
   */
  append: (writer: Writer, batch: number, chunks: StreamMessage[]) => Promise<AppendResult>;
  /** Entries after `fromSequence` (exclusive), at most `limit`. */
  read: (sessionId: string, fromSequence: number, limit: number) => Promise<LogEntry[]>;
  /**
   * Entries after `fromSequence`, first from the log and then live, in order, each once. Ends when
   * the signal fires. Reports what arrived together as one array.
   *
   * @throws Error when the store cannot be reached for longer than the follower can wait
   */
  follow: (
    sessionId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncIterable<LogEntry[]>;
  /** Calls back when a stop is asked for in this session. Resolves once listening. */
  onStop: (sessionId: string, listener: () => void) => Promise<() => void>;
}

export type AppendResult =
  | { kind: 'appended'; sequence: number; stopRequested: boolean }
  | { kind: 'fenced' }
  | { kind: 'superseded' };
