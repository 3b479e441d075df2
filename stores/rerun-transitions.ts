import type { Row } from '../protocol/rows.js';
import type { RunMode, TerminalStatus } from '../protocol/run.js';
import type { UserMessage } from './queued-entry.js';
import type { CustomState } from './session-state.js';
import type { RunRecord } from './transitions.js';

/** Inputs and results of the transitions that go on with turns, do them again or copy them; see SessionStore. */

export interface ResumeRunInput {
  sessionId: string;
  /** The run that is to be continued: another one may be the newest by now. Default: the newest. */
  runId?: string;
  /** Random part of the new run's id. */
  nonce: string;
  mode: Extract<RunMode, 'continue' | 'with_confirmation'>;
  /** Who asked, for the record. */
  by?: string;
  now: number;
}

export type ResumeRunResult =
  | { kind: 'resumed'; run: RunRecord }
  /** A run is at work, or waits. */
  | { kind: 'active'; runId: string }
  /** Another run is the newest. */
  | { kind: 'stale_run'; runId: string }
  /** The newest run has ended for good. */
  | { kind: 'final'; status: TerminalStatus }
  | { kind: 'not_found' };

export type RewindInput = {
  sessionId: string;
  /** The run that is expected to be the newest: of two who ask, one has missed the other's. */
  runId: string;
  /** Random part of the new run's id. */
  nonce: string;
  /** Who asked, for the record. */
  by?: string;
  now: number;
} & (
  | {
      mode: 'retry';
      /** A message of the turn that is done again, the user's or the agent's. Default: the newest turn. */
      messageId?: string;
      /** In place of that message, which must be a user's, and of all that follows it. */
      messages?: UserMessage[];
    }
  | { mode: 'from_checkpoint'; checkpointId: string }
);

export type RewindResult =
  | { kind: 'rewound'; run: RunRecord }
  | { kind: 'busy'; runId: string }
  /** Another run is the newest. */
  | { kind: 'stale_run'; runId: string }
  | { kind: 'checkpoint_not_found' }
  | { kind: 'message_not_found' }
  /** A message of that id stays, or was accepted with other content. */
  | { kind: 'conflict'; messageId: string }
  | { kind: 'not_found' };

export interface FoundInput {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Tells this session from another of the same id. */
  nonce: string;
  /** Who asked, for the record. */
  by?: string;
  /** The transcript, in which every call has its result. */
  rows: Row[];
  /** Its user messages, as they were accepted. */
  messages: Pick<UserMessage, 'id' | 'hash'>[];
  /** Its newest turn: number, first row, the reply's id and last step. */
  turn: { turn: number; row: number; messageId: string; step: number; hasReplied: boolean };
  /** How many messages people see. */
  visibleMessages: number;
  state?: CustomState;
  now: number;
}

export type FoundResult = { kind: 'founded' } | { kind: 'exists' };
