import type { SessionCalls } from './sessions.js';

/** Waiting: the lists, by owner and by tenant, of sessions that wait for people. */
export interface Waiting {
  /**
   * The sessions of one owner that wait for people, longest waiting first. Sessions that start or
   * stop waiting while pages are read may be missing or included.
   *
   * @throws HelixError `validation_error` if the cursor cannot be parsed
   */
  page: (owner: SessionOwner, page: WaitingPageOptions) => Promise<WaitingPage>;
  /** The same for all owners of a tenant, or all without one. */
  pageOfTenant: (tenant: string | undefined, page: WaitingPageOptions) => Promise<WaitingPage>;
  /**
   * Puts a session on its owner's and its tenant's list, unless it is there. `commit` does this before it stores a
   * question; other callers use it when they find a waiting session.
   */
  note: (sessionId: string) => Promise<void>;
  /** Takes a session off those lists; for callers that find it idle. */
  forget: (sessionId: string) => Promise<void>;
  /** Time of a conversation's newest question; undefined if none is known. */
  since: (sessionId: string) => Promise<number | undefined>;
  /** Figures about waiting conversations of all owners. */
  standing: () => Promise<WaitingStanding>;
  /**
   * Counts the questions of the longest waiting conversations by agent and kind. Absent if the store does not count
   * them.
   *
   * @param max maximum number of conversations
   */
  questions?: (max: number) => Promise<QuestionCount[]>;
}

/** Questions of one agent that wait for an answer. */
export interface QuestionCount {
  agent: string;
  /** The one who is asked: a person (`approval`) or a client. */
  kind: 'approval' | 'client';
  count: number;
}

export interface WaitingStanding {
  /** Number of conversations that wait for people; some may just have been answered. */
  count: number;
  /** Time of the longest waiting question, ms since the epoch; absent without one. */
  oldest?: number;
}

export interface SessionOwner {
  owner: string;
  tenant?: string;
}

export interface PageOptions {
  limit: number;
  /** Cursor of the previous page. */
  cursor?: string;
}

export interface Paged {
  /** Cursor of the next page; absent on the last page. */
  cursor?: string;
}

export interface WaitingPageOptions extends PageOptions {
  /** Only sessions that have waited since this time or longer, ms since the epoch. */
  askedBy?: number;
}

export interface WaitingSession extends SessionCalls {
  /** Time of its newest question, ms since the epoch. */
  since: number;
}

export interface WaitingPage extends Paged {
  sessions: WaitingSession[];
}
