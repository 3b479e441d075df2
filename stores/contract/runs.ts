import type { BusyPolicy } from '../../protocol/busy.js';
import type { FinishReason } from '../../protocol/chunk.js';
import type { Row } from '../../protocol/rows.js';
import type {
  ChildRef,
  ParentRef,
  RunError,
  RunMode,
  RunProgress,
  RunStatus,
  StopMode,
  StopRequest,
  TerminalStatus,
} from '../../protocol/run.js';
import type { CustomState } from './custom-state.js';

/** Runs: how each begins, ends, or is done again. At most one of a session is active. */
export interface Runs {
  /** Accepts user messages and makes a run for them. The only transition that creates a session. */
  begin: (input: BeginInput) => Promise<BeginResult>;
  /** Makes the session of a sub-agent from the call that it carries out, with its run. */
  beginChild: (input: BeginChildInput) => Promise<BeginChildResult>;
  /**
   * Makes a new run for the turn of one that was interrupted, or failed for a passing reason. It
   * continues after the last step in the transcript.
   */
  resume: (input: ResumeRunInput) => Promise<ResumeRunResult>;
  /**
   * Takes a session at rest back to the beginning of a turn, or to a checkpoint, and makes the run
   * that continues from there. What came later is dropped for good.
   */
  rewind: (input: RewindInput) => Promise<RewindResult>;
  /**
   * Leaves a stop record. A run whose own model is not streaming ends at once, with its sub-agents.
   * Given to a sub-agent it stops the conversation.
   */
  stop: (sessionId: string, stop: StopRequest & { runId?: string }) => Promise<StopResult>;
  /** Ends a run: run, session and stream become terminal together. */
  end: (input: EndInput) => Promise<EndResult>;
  /** The newest run; null for an unknown session. */
  current: (sessionId: string) => Promise<RunInfo | null>;
  /** Every run of the session, oldest first. @throws HelixError `not_found` */
  list: (sessionId: string) => Promise<RunInfo[]>;
  /** How the newest run was stopped; null if it was not. @throws HelixError `not_found` */
  interruption: (sessionId: string) => Promise<InterruptRecord | null>;
}

export interface BeginInput {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Random part of the new run's id. */
  nonce: string;
  messages: UserMessage[];
  /** What becomes of the messages while a run is at work, or others wait. Default: refused. */
  policy?: BusyPolicy;
  /** Who sends them, for whoever looks at the queue. */
  by?: string;
  /** Replaces the agent's own state together with the run's beginning; nothing does if none begins. */
  state?: CustomState;
  /** Present when the messages were given to go on after a run that has ended. */
  resumed?: { by?: string };
  now: number;
}

export interface UserMessage {
  id: string;
  /** Hash of the content: an accepted id with other content is a conflict. */
  hash: string;
  row: Row;
  hidden: boolean;
}

export type BeginResult =
  | { kind: 'begun'; run: RunRecord }
  /**
   * The messages wait for their turn, whose first entry comes after `sequence`. `begun` is a run
   * that was made for messages before them.
   */
  | { kind: 'queued'; sequence: number; begun?: RunRecord }
  /** This run takes them in; what answers them begins after `sequence`. */
  | { kind: 'steered'; runId: string; sequence: number }
  /** This run is told to stop; the messages are answered next. */
  | { kind: 'interrupting'; runId: string; sequence: number }
  | { kind: 'queue_full' }
  /** Every message was accepted before. */
  | { kind: 'accepted' }
  | { kind: 'busy' }
  | { kind: 'conflict'; messageId: string }
  | { kind: 'agent_mismatch'; agent: string }
  /** The session belongs to somebody else. */
  | { kind: 'foreign' };

export interface RunRecord {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  /** UI message id of the turn's reply. */
  messageId: string;
  /** Sequence before the turn's first chunk. */
  startSequence: number;
  startedAt: number;
  /** A run that gave way to this one, by abandonment or an interrupt; its workflow is to be woken. */
  supersededRunId?: string;
  /** Present on a run that goes on with a turn: what was there before it. */
  from?: RunProgress;
}

export interface BeginChildInput {
  child: Pick<ChildRef, 'sessionId' | 'runId' | 'agent'>;
  parent: Pick<ParentRef, 'sessionId' | 'runId' | 'toolCallId'>;
  now: number;
}

export interface BeginChildResult {
  /**
   * `limit`: too many sub-agents; the session is made, and its run has failed. `refused`: there is
   * no such call, or it is not this sub-agent's.
   */
  kind: 'begun' | 'limit' | 'superseded' | 'refused';
}

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

export type StopResult =
  /** Nothing runs. */
  | { kind: 'nothing' }
  /** A model speaks: it will confirm. */
  | { kind: 'stopping'; runId: string }
  /** `next`: messages wait for their turn. `waited`: the run waited for its provider. */
  | { kind: 'ended'; runId: string; next?: true; waited?: true };

/** Ends the run even while a writer is active: that one is fenced off. */
export interface EndInput {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that nobody committed. */
  row?: Row;
  /** Highest sequence that the run was told of: what follows is numbered above it. */
  floor?: number;
  now: number;
}

export type EndResult =
  /** `next`: messages wait for their turn. */
  { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' };

/** One run of a session. */
export interface RunInfo {
  runId: string;
  turn: number;
  status: RunStatus;
  /** Steps committed. */
  stepCount: number;
  /** Sequence before its turn's first chunk. */
  startSequence: number;
  startedAt: number;
  endedAt?: number;
  usage?: RunUsage;
  /** Why the model ended its newest committed reply. */
  finishReason?: FinishReason;
  /** The result that the model handed in, of an agent with an output schema. */
  output?: unknown;
  /** Why it failed or was aborted, if that was said. */
  error?: RunError;
  /** Why it was interrupted, if that was said. */
  reason?: string;
  mode: RunMode;
  /** Index of its turn's first row. */
  startRow: number;
  /** UI message id of its turn's reply. */
  messageId: string;
  /** Its turn was taken back. */
  rewound?: boolean;
  /** Who asked for it, if that was recorded. */
  by?: string;
}

/** What a run's model calls have used, those of discarded attempts included. Fields at 0 are absent. */
export interface RunUsage {
  inputTokens: number;
  outputTokens: number;
  /** Part of `inputTokens`: read from the provider's cache. */
  cachedTokens?: number;
  /** Part of `inputTokens`: written to the provider's cache. */
  cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  reasoningTokens?: number;
  /** Millionths of a dollar, by the agent's `pricing`. */
  costMicroUsd?: number;
}

/** How a run was stopped. */
export interface InterruptRecord {
  runId: string;
  mode: StopMode;
  reason?: string;
  by?: string;
  /** ms since the epoch. */
  at: number;
  checkpointId: string | null;
}
