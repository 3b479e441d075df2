import type { SessionCalls } from './sessions.js';

/** Waiting: the lists, by owner, of sessions that wait for people. */
export interface Waiting {
  /**
   * The sessions of one owner that wait for people, longest waiting first. Sessions that start or
   * stop waiting meanwhile may be missed or shown.
   *
   * @throws HelixError `validation_error` if the cursor cannot be parsed
   */
  page: (owner: SessionOwner, page: WaitingPageOptions) => Promise<WaitingPage>;
  /**
   * Puts a session on its owner's list, unless it is there. `commit` does so before it stores a
   * question; this is for callers that find a session waiting.
   */
  note: (sessionId: string) => Promise<void>;
  /** Takes a session off that list; for callers that find it at rest. */
  forget: (sessionId: string) => Promise<void>;
}

/** Whose sessions are asked for. */
export interface SessionOwner {
  owner: string;
  tenant?: string;
}

export interface WaitingPageOptions {
  /** Most sessions of one page. */
  limit: number;
  /** Of the page before. */
  cursor?: string;
}

export interface WaitingSession extends SessionCalls {
  /** When its newest question was asked, ms since the epoch. */
  since: number;
}

export interface WaitingPage {
  sessions: WaitingSession[];
  /** Pass on to read on; absent on the last page. */
  cursor?: string;
}
