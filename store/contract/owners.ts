import type { RunStatus } from '../../protocol/run.js';
import type { Paged, PageOptions, SessionOwner } from './waiting.js';

/** Owners: what each has stored and running, and the list of each owner's conversations. */
export interface Owners {
  /**
   * Charges a session's owner for its current size and lists it; a session that no longer exists is removed. Called
   * after changes of a session; may be repeated and may come late.
   *
   * @param owner whose charge is removed if the session is another's or does not exist
   * @param title used if the session belongs to that owner and has no title yet
   */
  fold: (sessionId: string, owner?: SessionOwner, title?: string) => Promise<void>;
  usage: (owner: SessionOwner) => Promise<OwnerCounts>;
  /** Counts of the user, of all users of the tenant, and of one session, which need not exist. */
  counts: (
    owner: SessionOwner,
    sessionId: string,
  ) => Promise<Record<'user' | 'tenant' | 'session', OwnerCounts>>;
  /** Folds the conversations whose runs count as active, since some may have ended without a fold. */
  refresh: (owner: SessionOwner) => Promise<void>;
  /**
   * Conversations of one user, most recently changed first. Conversations that change while pages are read may be
   * missing or appear twice. Since the work for a page is bounded, a search page may be short or empty and still have a
   * cursor.
   *
   * @throws HelixError `validation_error` if the cursor cannot be parsed
   */
  page: (owner: SessionOwner, page: ConversationPageOptions) => Promise<ConversationPage>;
  /** Takes owners whose conversations are due for repair. They are not due again for `forMs`. */
  take: (limit: number, forMs: number) => Promise<SessionOwner[]>;
  /** Folds every conversation of a user, which corrects figures that were lost. */
  repair: (owner: SessionOwner) => Promise<void>;
}

export interface OwnerCounts {
  /** Active runs; a run that waits for people does not count. */
  runs: number;
  queued: number;
  sessions: number;
  /** Stored text in UTF-8 bytes. */
  bytes: number;
}

export const COUNTED = ['runs', 'queued', 'sessions', 'bytes'] as const;
export const NO_COUNTS: OwnerCounts = { runs: 0, queued: 0, sessions: 0, bytes: 0 };

export interface ConversationPageOptions extends PageOptions {
  /** Case-insensitive text that the title must contain. */
  search?: string;
}

export interface Conversation {
  sessionId: string;
  /** The beginning of the first message. */
  title: string;
  agent: string;
  /** ms since the epoch. */
  updatedAt: number;
  /** Status of the newest run. */
  status: RunStatus;
}

export interface ConversationPage extends Paged {
  conversations: Conversation[];
}
