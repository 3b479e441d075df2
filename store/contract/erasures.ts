import type { Act } from './audit.js';
import type { SessionOwner } from './waiting.js';

/** Erasures of conversations that are not complete: what is left to do outside their record. */
export interface Erasures {
  /** Those of one session id, the oldest first. */
  of: (sessionId: string) => Promise<Erasure[]>;
  /** Conversations of a person with such an erasure. */
  pending: (who: SessionOwner) => Promise<string[]>;
  /** Takes the session off the lists and figures on which an interrupted erasure has left it. */
  clear: (sessionId: string, erasure: Erasure) => Promise<void>;
  /** Forgets one that is complete. */
  done: (sessionId: string, erasure: Erasure) => Promise<void>;
}

/** An erasure, noted in the transition that removes the session. */
export interface Erasure {
  act: Act;
  owner: SessionOwner;
  /** Every run of the conversation. */
  runs: string[];
  /** True if the newest run was not started yet: its workflow may appear later. */
  starting: boolean;
  /** The sub-agents' sessions, by the part of their id, and their runs as far as they are known. */
  parts: string[];
  childRuns: string[];
  /** Calls of the last minute, sub-agents' too: Temporal may not list the work of their tools yet. */
  calls: [runId: string, toolCallId: string][];
  /** Ids of its files, whose bytes may be elsewhere. */
  files: string[];
  /** What was removed: rows of the transcript, entries of the stream, and bytes of text. */
  rows: number;
  entries: number;
  bytes: number;
  /** As stored. */
  text: string;
}
