import type { QueueMode } from '../protocol/busy.js';
import type { Row } from '../protocol/rows.js';
import type { StopRequest } from '../protocol/run.js';

export interface UserMessage {
  id: string;
  /** Hash of the content: an accepted id with other content is a conflict. */
  hash: string;
  row: Row;
  hidden: boolean;
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

/** The stop record of a run that is interrupted by a message. */
export function interruptBy({ by }: { by?: string }): StopRequest {
  return { mode: 'interrupt', reason: 'new_message', ...(by !== undefined && { by }) };
}
