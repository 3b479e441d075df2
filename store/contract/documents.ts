import type { Row } from '../../protocol/rows.js';
import type { PendingCall, SuspensionContext } from './calls.js';
import type { CustomState, VersionedState } from './custom-state.js';
import type { InterruptRecord } from './runs.js';
import type { SessionRecord } from './sessions.js';

/**
 * Documents: a session as one object, its custom state and its transcript. Methods throw HelixError
 * `not_found` for an unknown session unless stated otherwise.
 */
export interface Documents {
  /** Everything about a session, read at one moment; null if it does not exist. */
  load: (sessionId: string) => Promise<SessionState | null>;
  /**
   * Replaces the custom state if it still has the version that was loaded.
   *
   * @throws StaleStateError otherwise; nothing is changed
   */
  save: (sessionId: string, state: VersionedState) => Promise<{ version: number }>;
  /**
   * The custom state including staged changes of settled calls. `turn`: the state when the turn
   * began, before any change that the stream of the turn reports.
   */
  readState: (sessionId: string, at?: 'now' | 'turn') => Promise<VersionedState>;
  /** Rows of the transcript; `limit` defaults to 50. An unknown session has no rows. */
  messages: (sessionId: string, page?: { offset?: number; limit?: number }) => Promise<MessagePage>;
}

/**
 * A session in the shape of the Helix state store: record, transcript, custom state and pending
 * calls.
 */
export interface SessionState extends SessionRecord {
  messages: Row[];
  /** The agent's own state: a JSON object. */
  customState: CustomState;
  /** Increases with each change of the custom state. */
  version: number;
  pendingClientToolCalls: Record<string, PendingCall>;
  suspensionContext?: SuspensionContext;
  interruptContext?: InterruptRecord;
}

export interface MessagePage {
  messages: Row[];
  total: number;
  hasMore: boolean;
}
