import type { QueueMode } from '../../protocol/replies.js';
import type { KnownPerson } from '../../protocol/actor.js';
import type { ReadMeter } from './log.js';
import type { BeginQueued, BeginQueuedReply } from '../../session/begin.js';
import type { UserMessage } from '../../session/input.js';
import type {
  EditQueued,
  EditQueuedReply,
  RemoveQueued,
  RemoveQueuedReply,
} from '../../session/queue.js';

/** The queue of a session: accepted messages that wait for their turn. */
export interface Queue {
  /** Starts a run for the messages that have waited longest, unless a run is active. */
  begin: (input: BeginQueued) => Promise<BeginQueuedReply>;
  edit: (input: EditQueued) => Promise<EditQueuedReply>;
  /** Removes queued messages; their ids count as never accepted. */
  remove: (input: RemoveQueued) => Promise<RemoveQueuedReply>;
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
  /** The people who ask by the messages, the author first. */
  askers: readonly KnownPerson[];
}
