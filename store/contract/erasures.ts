import type { Act } from './audit.js';
import type { SessionOwner } from './waiting.js';

/** Incomplete erasures of conversations: the work that remains outside their records. */
export interface Erasures {
  /** Erasures of one session id, oldest first. */
  of: (sessionId: string) => Promise<Erasure[]>;
  /** A person's conversations with an incomplete erasure. */
  pending: (who: SessionOwner) => Promise<string[]>;
  /** Removes the session from lists and figures on which an interrupted erasure left it. */
  clear: (sessionId: string, erasure: Erasure) => Promise<void>;
  /** Forgets a complete erasure. */
  done: (sessionId: string, erasure: Erasure) => Promise<void>;
}

/** An erasure, noted in the change that removes the session. */
export interface Erasure {
  act: Act;
  owner: SessionOwner;
  runs: string[];
  /** Id of the newest run if it claimed no step, even if it was stopped: its workflow may appear later. */
  starting?: string;
  /** Parts of the ids of sub-agents' sessions, and their known runs. */
  parts: string[];
  childRuns: string[];
  /** Calls of the last minute, including those of sub-agents, since Temporal may not list their work yet. */
  calls: [runId: string, toolCallId: string][];
  /** Ids of its files, whose bytes may be stored elsewhere. */
  files: string[];
  /** Removed transcript rows, stream entries, and bytes of text. */
  rows: number;
  entries: number;
  bytes: number;
  text: string;
}
