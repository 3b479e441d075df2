import type { RunStatus } from '../../protocol/run.js';
import type { SessionOwner } from './waiting.js';

/** Owners: what each has stored and at work, and the list of their conversations. */
export interface Owners {
  /**
   * Sets aside what a request is about to add to a session, or says which limit stands against it. It
   * lapses by itself after a few seconds unless `fold` comes first.
   */
  reserve: (input: ReserveInput) => Promise<ReserveResult>;
  /**
   * Charges a session's owner for the session as it stands, and lists it; one that is gone is taken
   * off. Each change of a session is followed by one; it may be repeated, and come late.
   *
   * @param reserved whose reservation ends with it, and who is charged no more if the session is gone
   */
  fold: (sessionId: string, reserved?: SessionOwner) => Promise<void>;
  /** What counts for this user: with what is reserved. */
  usage: (owner: SessionOwner) => Promise<OwnerCounts>;
  /**
   * The conversations of one user, the newest change first. Those that change meanwhile may be missed
   * or shown twice.
   *
   * @throws HelixError `validation_error` if the cursor cannot be parsed
   */
  page: (owner: SessionOwner, page: ConversationPageOptions) => Promise<ConversationPage>;
  /** Owners whose conversations are due to be looked through; they are not due again for `forMs`. */
  take: (limit: number, forMs: number) => Promise<SessionOwner[]>;
  /** Folds every conversation of a user; what got lost on the way is right then. */
  repair: (owner: SessionOwner) => Promise<void>;
}

/** What is counted, of a user and of a tenant. */
export interface OwnerCounts {
  /** Runs at work; one that waits for people is none. */
  runs: number;
  /** Entries that wait for their turn. */
  queued: number;
  sessions: number;
  /** Stored text, in bytes of UTF-8. */
  bytes: number;
}

export interface ReserveInput extends SessionOwner {
  sessionId: string;
  /**
   * `run` begins a run, or waits behind one; `alone` begins a run, or does nothing while one is at
   * work; `copy` begins none.
   */
  purpose: 'run' | 'alone' | 'copy';
  /** What the request stores. */
  bytes: number;
  /** What the conversation is called, if it has no title yet. */
  title?: string;
  /** Absent: nothing is refused. */
  limits?: { user: OwnerCounts; tenant: OwnerCounts };
  /** How long it holds, ms. Default 10 s. */
  forMs?: number;
}

export type ReserveResult = { kind: 'reserved' } | QuotaExceeded;

export interface QuotaExceeded {
  kind: 'exceeded';
  what: keyof OwnerCounts;
  of: 'user' | 'tenant';
  limit: number;
  /** What counts already. */
  used: number;
}

export interface ConversationPageOptions {
  /** Most conversations of one page. */
  limit: number;
  /** Of the page before. */
  cursor?: string;
}

export interface Conversation {
  sessionId: string;
  /** The beginning of its first message. */
  title: string;
  agent: string;
  /** ms since the epoch. */
  updatedAt: number;
  /** Of the newest run. */
  status: RunStatus;
}

export interface ConversationPage {
  conversations: Conversation[];
  /** Pass on to read on; absent on the last page. */
  cursor?: string;
}
