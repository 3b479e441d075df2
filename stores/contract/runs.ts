import type { BusyPolicy } from '../../protocol/busy.js';
import type { FinishReason } from '../../protocol/chunk.js';
import type { KnownPerson } from '../../protocol/responder.js';
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
import type { Act } from './audit.js';
import type { CustomState } from './custom-state.js';

/** Runs: how each begins, ends or is repeated. At most one run of a session is active. */
export interface Runs {
  /**
   * Accepts user messages and starts a run for them. The only transition that creates a session.
   */
  begin: (input: BeginInput) => Promise<BeginResult>;
  /** Creates the session of a sub-agent from the call that it carries out, with its run. */
  beginChild: (input: BeginChildInput) => Promise<BeginChildResult>;
  /**
   * Starts a new run for the turn of a run that was interrupted, or failed for a temporary reason.
   * It continues after the last step in the transcript.
   */
  resume: (input: ResumeRunInput) => Promise<ResumeRunResult>;
  /**
   * Takes an idle session back to the beginning of a turn, or to a checkpoint, and starts the run
   * that continues from there. Everything later is deleted.
   */
  rewind: (input: RewindInput) => Promise<RewindResult>;
  /**
   * Leaves a stop record. A run whose model is not streaming ends at once, together with its
   * sub-agents. Addressed to a sub-agent, it stops the whole conversation.
   */
  stop: (
    sessionId: string,
    stop: StopRequest & { runId?: string; act?: Act },
  ) => Promise<StopResult>;
  /**
   * Keeps the tools that servers offer to a run for as long as it is active: the first list counts.
   * Without `tools` it only reads.
   */
  pinTools: (input: PinToolsInput) => Promise<PinToolsResult>;
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
  /** What happens to the messages while a run is active or others wait. Default: they are refused. */
  policy?: BusyPolicy;
  /** The only run that the policy `interrupt` may stop: while another is the newest, it is `reject`. */
  interrupts?: string;
  /** True: a run that waits for people is not abandoned by the messages; it is active like any other. */
  keepsQuestions?: boolean;
  /** The sender, shown to readers of the queue. If it is not the owner, the run was requested by it. */
  by?: string;
  /** Who asks by the messages, their author first. Default: who has requested the run, or the owner. */
  askers?: readonly KnownPerson[];
  /** Replaces the agent's own state when the run begins; ignored if no run begins. */
  state?: CustomState;
  /** Set if the messages continue a turn after a run that has ended. */
  resumed?: { by?: string };
  /** The run waits for this time, ms since the epoch; refused while another one is active or waits. */
  startAt?: number;
  now: number;
}

export interface UserMessage {
  id: string;
  /** Hash of the content: the same id with other content is a conflict. */
  hash: string;
  row: Row;
  hidden: boolean;
}

export type BeginResult =
  | { kind: 'begun'; run: RunRecord }
  /**
   * The messages are queued; their first entry comes after `sequence`. `begun` is a run that was
   * started for messages before them.
   */
  | { kind: 'queued'; sequence: number; begun?: RunRecord }
  /** This run reads them in its next step; the reply to them begins after `sequence`. */
  | { kind: 'steered'; runId: string; sequence: number }
  /** This run was asked to stop; the messages are answered next. */
  | { kind: 'interrupting'; runId: string; sequence: number }
  | { kind: 'queue_full' }
  /** All messages were accepted before. */
  | { kind: 'accepted' }
  | { kind: 'busy' }
  | { kind: 'conflict'; messageId: string }
  | { kind: 'agent_mismatch'; agent: string }
  /** The session belongs to another owner. */
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
  /** A run that this one replaced, by abandonment or an interrupt; its workflow must be woken. */
  supersededRunId?: string;
  /** Set if the run continues a turn: what the turn had before. */
  from?: RunProgress;
}

export interface BeginChildInput {
  child: Pick<ChildRef, 'sessionId' | 'runId' | 'agent'>;
  parent: Pick<ParentRef, 'sessionId' | 'runId' | 'toolCallId'>;
  now: number;
}

export interface BeginChildResult {
  /**
   * `limit`: too many sub-agents; the session exists, and its run has failed. `refused`: no such
   * call, or it belongs to another sub-agent.
   */
  kind: 'begun' | 'limit' | 'superseded' | 'refused';
}

export interface ResumeRunInput {
  sessionId: string;
  /** The run to continue; refused if another run is the newest. Default: the newest. */
  runId?: string;
  /** Random part of the new run's id. */
  nonce: string;
  mode: Extract<RunMode, 'continue' | 'with_confirmation'>;
  /** The requester, for the record. */
  by?: string;
  /** The same as a person: asks from now on, too. */
  asker?: KnownPerson;
  now: number;
  /** For the audit trail. */
  act?: Act;
}

export type ResumeRunResult =
  | { kind: 'resumed'; run: RunRecord }
  /** A run is active or waits. */
  | { kind: 'active'; runId: string }
  /** Another run is the newest. */
  | { kind: 'stale_run'; runId: string }
  /** The end of the newest run does not allow another run. */
  | { kind: 'final'; status: TerminalStatus }
  | { kind: 'not_found' };

export type RewindInput = {
  sessionId: string;
  /**
   * The run that the requester expects to be the newest: of two concurrent requests, one is
   * refused.
   */
  runId: string;
  /** Random part of the new run's id. */
  nonce: string;
  /** The requester, for the record. */
  by?: string;
  /** The same as a person: asks from now on, too; the author of messages that replace others. */
  asker?: KnownPerson;
  now: number;
  /** For the audit trail. */
  act?: Act;
} & (
  | {
      mode: 'retry';
      /** A message of the turn to repeat, the user's or the agent's. Default: the newest turn. */
      messageId?: string;
      /** Messages that replace that message, which must be a user's, and everything after it. */
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
  /** The id belongs to a message that stays, or was accepted with other content. */
  | { kind: 'conflict'; messageId: string }
  | { kind: 'not_found' };

export type StopResult =
  /** No run is active. */
  | { kind: 'nothing' }
  /** A model is streaming; its step will end the run. */
  | { kind: 'stopping'; runId: string }
  /** `next`: queued messages wait. `waited`: the run was waiting for its provider. */
  | { kind: 'ended'; runId: string; next?: true; waited?: true };

export interface PinToolsInput {
  sessionId: string;
  runId: string;
  /** JSON, and no longer than `LIMITS.mcpToolsBytes`. */
  tools?: unknown;
}

export type PinToolsResult =
  | { kind: 'pinned'; tools: unknown }
  /** No tools were given, now or before. */
  | { kind: 'none' }
  /** The run is not active. */
  | { kind: 'superseded' };

/** Ends the run even if a writer is active; that writer is fenced off. */
export interface EndInput {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that was never committed. */
  row?: Row;
  /** Highest sequence that the run has seen; new entries are numbered above it. */
  floor?: number;
  now: number;
}

export type EndResult =
  /** `next`: queued messages wait. */
  { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' };

/** One run of a session. */
export interface RunInfo {
  runId: string;
  turn: number;
  status: RunStatus;
  /** Number of committed steps. */
  stepCount: number;
  /** Sequence before its turn's first chunk. */
  startSequence: number;
  startedAt: number;
  endedAt?: number;
  usage?: RunUsage;
  /** Why the model ended its newest committed reply. */
  finishReason?: FinishReason;
  /** The result that the model submitted, for an agent with an output schema. */
  output?: unknown;
  /** Why it failed or was aborted, if known. */
  error?: RunError;
  /** Why it was interrupted, if a reason was given. */
  reason?: string;
  mode: RunMode;
  /** Index of its turn's first row. */
  startRow: number;
  /** UI message id of its turn's reply. */
  messageId: string;
  /** True if a rewind dropped its turn. */
  rewound?: boolean;
  /** The requester, if recorded. */
  by?: string;
}

/**
 * Usage of a run's model calls, including those of discarded attempts. Fields that are 0 are
 * absent.
 */
export interface RunUsage {
  inputTokens: number;
  outputTokens: number;
  /** Part of `inputTokens`: read from the provider's cache. */
  cachedTokens?: number;
  /** Part of `inputTokens`: written to the provider's cache. */
  cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  reasoningTokens?: number;
  /** Millionths of a dollar, according to the agent's `pricing`. */
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
