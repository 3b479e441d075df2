import type { QueueMode } from '../../protocol/busy.js';
import type { KnownPerson } from '../../protocol/responder.js';
import type { ReadMeter } from './log.js';
import type { RunRecord, UserMessage } from './runs.js';

/** The queue of a session: accepted messages that wait for their turn. */
export interface Queue {
  /** Starts a run for the messages that have waited longest, unless a run is active. */
  begin: (input: BeginQueuedInput) => Promise<BeginQueuedResult>;
  /** Replaces a queued message. */
  edit: (input: EditQueuedInput) => Promise<EditQueuedResult>;
  /** Removes queued messages; their ids count as never accepted. */
  remove: (input: RemoveQueuedInput) => Promise<RemoveQueuedResult>;
  /** The queued entries, in the order in which they are answered. */
  read: (sessionId: string, meter?: ReadMeter) => Promise<QueuedEntry[]>;
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
  /** Who asks by them, their author first. */
  askers: readonly KnownPerson[];
}

export interface BeginQueuedInput {
  sessionId: string;
  /** Random part of the new run's id. */
  nonce: string;
  now: number;
}

export type BeginQueuedResult =
  | { kind: 'begun'; run: RunRecord; tenant?: string }
  /** A run is active; when it ends, the queue is read again. */
  | { kind: 'busy' }
  | { kind: 'empty' };

export interface EditQueuedInput {
  sessionId: string;
  /** The new content, under the id of the message that it replaces. */
  message: Pick<UserMessage, 'id' | 'hash' | 'row'>;
  /** Hash of the content that the editor has seen. */
  expectedHash: string;
  /** Who changes it: the author from now on. */
  asker?: KnownPerson;
  now: number;
}

export type EditQueuedResult =
  | { kind: 'edited' }
  /** The message was changed since it was read. */
  | { kind: 'stale' }
  /** The message is not queued, or no longer. */
  | { kind: 'not_queued' };

export interface RemoveQueuedInput {
  sessionId: string;
  /** Any message of the entry; absent: all entries. */
  messageId?: string;
  now: number;
}

export interface RemoveQueuedResult {
  kind: 'removed';
  /** Number of removed entries. */
  count: number;
}
