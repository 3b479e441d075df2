import type { Row } from '../protocol/rows.js';
import type { StopRequest } from '../protocol/run.js';
import type { OpenCall, SessionCalls, SessionRecord, SessionView } from './session-record.js';
import type { SessionDocuments } from './session-state.js';
import type { SessionOwner, WaitingPage, WaitingPageOptions } from './record/waiting-page.js';
import type {
  BeginQueuedInput,
  BeginQueuedResult,
  EditQueuedInput,
  EditQueuedResult,
  RemoveQueuedInput,
  RemoveQueuedResult,
} from './queue-transitions.js';
import type { QueuedEntry } from './queued-entry.js';
import type {
  ResumeRunInput,
  ResumeRunResult,
  RewindInput,
  RewindResult,
  FoundInput,
  FoundResult,
} from './rerun-transitions.js';
import type {
  BeginChildInput,
  BeginChildResult,
  BeginInput,
  BeginResult,
  ClaimInput,
  ClaimResult,
  DiscardInput,
  DiscardResult,
  CommitInput,
  CommitResult,
  StopResult,
  TakeOverInput,
  TakeOverResult,
  EndInput,
  EndResult,
} from './transitions.js';
import type {
  StartCallInput,
  StartCallResult,
  SettleCallInput,
  SettleCallResult,
  ExtendDeadlineInput,
  ExtendDeadlineResult,
  LeaseCallInput,
  LeaseCallResult,
} from './call-transitions.js';

export type {
  CallSpec,
  CallState,
  InterruptRecord,
  OpenCall,
  RunUsage,
  SessionCalls,
  SessionRecord,
  SessionView,
  Wake,
} from './session-record.js';
export type {
  SessionOwner,
  WaitingPage,
  WaitingPageOptions,
  WaitingSession,
} from './record/waiting-page.js';
export type { QueuedEntry, UserMessage } from './queued-entry.js';
export type {
  BeginQueuedInput,
  BeginQueuedResult,
  EditQueuedInput,
  EditQueuedResult,
  RemoveQueuedInput,
  RemoveQueuedResult,
} from './queue-transitions.js';
export type {
  ResumeRunInput,
  ResumeRunResult,
  RewindInput,
  RewindResult,
  FoundInput,
  FoundResult,
} from './rerun-transitions.js';
export type {
  BeginChildInput,
  BeginChildResult,
  BeginInput,
  BeginResult,
  RunRecord,
  Writer,
  ClaimInput,
  ClaimResult,
  DiscardInput,
  DiscardResult,
  NewCall,
  CommitInput,
  CommitResult,
  StopResult,
  TakeOverInput,
  TakeOverResult,
  EndInput,
  EndResult,
} from './transitions.js';
export type {
  StartCallInput,
  StartCallResult,
  SettleCallInput,
  SettleCallResult,
  ExtendDeadlineInput,
  ExtendDeadlineResult,
  LeaseCallInput,
  LeaseCallResult,
} from './call-transitions.js';

/**
 * The record of sessions. Every transition is one atomic step, decides in the order *already done,
 * its first result; stop record; fence; expected state*, and may be repeated: a client that was cut
 * off after sending gets the first result again.
 */
export interface SessionStore extends SessionDocuments {
  /** Accepts user messages and makes a run for them. The only transition that creates a session. */
  begin: (input: BeginInput) => Promise<BeginResult>;
  /** Makes the session of a sub-agent from the call that it carries out. */
  beginChild: (input: BeginChildInput) => Promise<BeginChildResult>;
  /**
   * An id for a sub-agent's call that no other call of the conversation has: the wanted one, or that
   * with `_<n>` behind it. The same `call` gets the same id again.
   */
  takeCallId: (sessionId: string, call: string, wanted: string) => Promise<string>;
  /** Ids of the calls that sub-agents of this conversation have made. */
  readSubAgentCallIds: (sessionId: string) => Promise<string[]>;
  /** Makes a run for the messages that have waited longest, unless one is at work. */
  beginQueued: (input: BeginQueuedInput) => Promise<BeginQueuedResult>;
  /** Replaces a message that waits. */
  editQueued: (input: EditQueuedInput) => Promise<EditQueuedResult>;
  /** Removes messages that wait; their ids count as never accepted. */
  removeQueued: (input: RemoveQueuedInput) => Promise<RemoveQueuedResult>;
  /**
   * Makes a new run for the turn of one that was interrupted, or failed in a way that may pass; its
   * steps go on behind the last one that the transcript has.
   */
  resumeRun: (input: ResumeRunInput) => Promise<ResumeRunResult>;
  /**
   * Takes a session at rest back to the beginning of a turn, or to a checkpoint, and makes the run that
   * goes on from there. What came later is dropped for good.
   */
  rewind: (input: RewindInput) => Promise<RewindResult>;
  /** Makes a session at rest out of rows of another one. */
  found: (input: FoundInput) => Promise<FoundResult>;
  /** Makes a writer the owner of a step; withdraws what earlier attempts left. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /** Withdraws what this attempt wrote, and counts a failure of the provider. */
  discard: (input: DiscardInput) => Promise<DiscardResult>;
  /** Stores a step's reply, opens its calls, and pauses or ends the run if nothing else is to do. */
  commit: (input: CommitInput) => Promise<CommitResult>;
  /** Permission to execute a tool. */
  startCall: (input: StartCallInput) => Promise<StartCallResult>;
  /** The one result of a call, or the decision about it; the first one wins. */
  settleCall: (input: SettleCallInput) => Promise<SettleCallResult>;
  /** Gives people more time to answer a call that waits. */
  extendDeadline: (input: ExtendDeadlineInput) => Promise<ExtendDeadlineResult>;
  /**
   * Of several pages that could carry out a client tool, lets one do it for a while; asked again by the
   * same one, for longer. A word among pages: answers are taken from anybody.
   */
  leaseCall: (input: LeaseCallInput) => Promise<LeaseCallResult>;
  /**
   * Leaves a stop record; a run whose own model does not speak ends at once, with its sub-agents.
   * Given to a sub-agent it stops the conversation.
   */
  stop: (sessionId: string, stop: StopRequest & { runId?: string }) => Promise<StopResult>;
  /** Makes the caller the owner of a writer that does not answer; what it wrote stays. */
  takeOver: (input: TakeOverInput) => Promise<TakeOverResult>;
  /** Ends a run: run, session and stream become terminal together. */
  end: (input: EndInput) => Promise<EndResult>;

  /** The session's record, or undefined. One read, consistent in itself. */
  readRecord: (sessionId: string) => Promise<SessionRecord | undefined>;
  /** Rows `from` (inclusive, 0-based) up to `to` (exclusive; all when absent). */
  readRows: (sessionId: string, from: number, to?: number) => Promise<Row[]>;
  /** Everything a snapshot is made of, read at one moment, with the calls of sub-agents. */
  readView: (sessionId: string) => Promise<SessionView | undefined>;
  /** The same without transcript and queue: what the session waits for. */
  readCalls: (sessionId: string) => Promise<SessionCalls | undefined>;
  /** What waits for its turn, in the order in which it is answered. */
  readQueue: (sessionId: string) => Promise<QueuedEntry[]>;
  /**
   * One call of the newest committed step, or undefined once a later step has taken it in. Calls of
   * sub-agents are found at the conversation.
   */
  readCall: (sessionId: string, toolCallId: string) => Promise<OpenCall | undefined>;
  /** Which of these user message ids the session has accepted. */
  acceptedMessages: (sessionId: string, ids: string[]) => Promise<string[]>;
  /** Remembers that a snapshot of an active turn was handed out (60 s). */
  noteActiveSnapshot: (sessionId: string, turn: number) => Promise<void>;
  /** Sessions whose run may need attention, oldest first; they are not due again for `forMs`. */
  dueSessions: (limit: number, forMs: number) => Promise<string[]>;
  /** Puts a session on that list, due in `inMs`; written before `begin`, so that no run is unknown. */
  noteDue: (sessionId: string, inMs: number) => Promise<void>;
  /** Takes a session off that list. */
  forgetDue: (sessionId: string) => Promise<void>;
  /**
   * The sessions of one owner that wait for people, those first that have waited longest. Sessions that
   * begin or cease to wait meanwhile may be missed or shown. Throws HelixError `validation_error`
   * for a cursor that is none.
   */
  waitingSessions: (owner: SessionOwner, page: WaitingPageOptions) => Promise<WaitingPage>;
  /**
   * Puts a session on its owner's list, unless it is there. `commit` does so before it stores a
   * question; this is for those who find a session that waits.
   */
  noteWaiting: (sessionId: string) => Promise<void>;
  /** Takes a session off that list; for those who find it at rest. */
  forgetWaiting: (sessionId: string) => Promise<void>;
  /** True if this holder may sweep for the next `forMs`. */
  leaseSweep: (holder: string, forMs: number) => Promise<boolean>;
}
