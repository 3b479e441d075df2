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
  /**
   * The same of all owners of a tenant, or of all who have none.
   *
   * @throws HelixError `validation_error` if the cursor cannot be parsed
   */
  pageOfTenant: (tenant: string | undefined, page: WaitingPageOptions) => Promise<WaitingPage>;
  /**
   * Puts a session on its owner's and its tenant's list, unless it is there. `commit` does this before it stores a
   * question; this method is for callers that find a waiting session.
   */
  note: (sessionId: string) => Promise<void>;
  /** Takes a session off those lists; for callers that find it idle. */
  forget: (sessionId: string) => Promise<void>;
  /** When the newest question of a conversation was asked; undefined if none is known. */
  since: (sessionId: string) => Promise<number | undefined>;
  /** What waits, over all owners. */
  standing: () => Promise<WaitingStanding>;
  /**
   * The questions of the conversations that have waited longest, counted by agent and kind. Absent:
   * they are not counted.
   *
   * @param most conversations that are looked at
   */
  questions?: (most: number) => Promise<QuestionCount[]>;
}

/** Questions of one agent that wait for an answer. */
export interface QuestionCount {
  agent: string;
  /** Who is asked: a person, or a client. */
  kind: 'approval' | 'client';
  count: number;
}

export interface WaitingStanding {
  /** Conversations that wait for people; some may have been answered a moment ago. */
  count: number;
  /** When the question was asked that has waited longest, ms since the epoch; absent without one. */
  oldest?: number;
}

/** The owner whose sessions are requested. */
export interface SessionOwner {
  owner: string;
  tenant?: string;
}

export interface WaitingPageOptions {
  /** Maximum number of sessions on a page. */
  limit: number;
  /** Cursor from the previous page. */
  cursor?: string;
  /** Only sessions that have waited since this time or longer, ms since the epoch. */
  askedBy?: number;
}

export interface WaitingSession extends SessionCalls {
  /** When its newest question was asked, ms since the epoch. */
  since: number;
}

export interface WaitingPage {
  sessions: WaitingSession[];
  /** Cursor of the next page; absent on the last page. */
  cursor?: string;
}
