import type { QueueMode } from '../../protocol/busy.js';
import type { RunRecord, UserMessage } from './runs.js';

/** The queue of a session: accepted messages that wait for their turn. */
export interface Queue {
  /** Makes a run for the messages that have waited longest, unless one is active. */
  begin: (input: BeginQueuedInput) => Promise<BeginQueuedResult>;
  /** Replaces a message that waits. */
  edit: (input: EditQueuedInput) => Promise<EditQueuedResult>;
  /** Removes messages that wait; their ids count as never accepted. */
  remove: (input: RemoveQueuedInput) => Promise<RemoveQueuedResult>;
  /** The entries that wait, in the order in which they are answered. */
  read: (sessionId: string) => Promise<QueuedEntry[]>;
}

/** Accepted messages that wait for their turn. */
export interface QueuedEntry {
  /** Id of its first message. */
  id: string;
  mode: QueueMode;
  messages: UserMessage[];
  /** ms since the epoch. */
  queuedAt: number;
  by?: string;
}

export interface BeginQueuedInput {
  sessionId: string;
  /** Random part of the new run's id. */
  nonce: string;
  now: number;
}

export type BeginQueuedResult =
  | { kind: 'begun'; run: RunRecord; tenant?: string }
  /** A run is at work: its end is the next occasion. */
  | { kind: 'busy' }
  | { kind: 'empty' };

export interface EditQueuedInput {
  sessionId: string;
  /** With the id of the message that it replaces. */
  message: Pick<UserMessage, 'id' | 'hash' | 'row'>;
  /** Hash of the content that was read. */
  expectedHash: string;
  now: number;
}

export type EditQueuedResult =
  | { kind: 'edited' }
  /** Somebody else has changed it meanwhile. */
  | { kind: 'stale' }
  /** It does not wait, or not any more. */
  | { kind: 'not_queued' };

export interface RemoveQueuedInput {
  sessionId: string;
  /** Any message of the entry; all entries when absent. */
  messageId?: string;
  now: number;
}

export interface RemoveQueuedResult {
  kind: 'removed';
  /** How many entries were. */
  count: number;
}
