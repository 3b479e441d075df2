import type { Row } from '../../protocol/rows.js';
import type { PendingCall, SuspensionContext } from './calls.js';
import type { CustomState, VersionedState } from './custom-state.js';
import type { InterruptRecord } from './runs.js';
import type { SessionRecord } from './sessions.js';

/**
 * Documents: a session as one object, its custom state and its transcript. Methods throw HelixError
 * `not_found` for a session that does not exist unless they say otherwise.
 */
export interface Documents {
  /** Everything about a session, read at one moment; null if there is none. */
  load: (sessionId: string) => Promise<SessionState | null>;
  /**
   * Replaces the custom state if it is still the version that was loaded.
   *
   * @throws StaleStateError otherwise; nothing is changed then
   */
  save: (sessionId: string, state: VersionedState) => Promise<{ version: number }>;
  /**
   * The custom state, with what settled calls have staged. `turn`: as it was when the turn began,
   * before any change that the turn's stream reports.
   */
  readState: (sessionId: string, at?: 'now' | 'turn') => Promise<VersionedState>;
  /** Rows of the transcript; `limit` defaults to 50. An unknown session has none. */
  messages: (sessionId: string, page?: { offset?: number; limit?: number }) => Promise<MessagePage>;
}

/** A session as the Helix state store gives it: record, transcript, the agent's own state, and what it waits for. */
export interface SessionState extends SessionRecord {
  messages: Row[];
  /** The agent's own state: a JSON object. */
  customState: CustomState;
  /** Grows with each change of the custom state. */
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
