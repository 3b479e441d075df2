import type { UserMessage } from './queued-entry.js';
import type { RunRecord } from './transitions.js';

/** Inputs and results of what is done to a queue; what they mean stands at SessionStore. */

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
