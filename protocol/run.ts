/** Runs as every side of the wire sees them. Types and plain constants only: workflow code imports this file. */

/** Status of a run; the last four are terminal. */
export const RUN_STATUSES = [
  'starting',
  'running',
  'waiting_approval',
  'waiting_tool',
  'waiting_children',
  'completed',
  'failed',
  'interrupted',
  'aborted',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export type TerminalStatus = Extract<RunStatus, 'completed' | 'failed' | 'interrupted' | 'aborted'>;

/**
 * Why a run was made: for new messages (`new`), to go on with a turn or to do it again. `branch` is
 * the run that a copied session begins with, which has ended.
 */
export type RunMode =
  | 'new'
  | 'continue'
  | 'with_message'
  | 'with_confirmation'
  | 'from_checkpoint'
  | 'retry'
  | 'branch';

/** Status of a session's stream, as the stream protocol names it. */
export const STREAM_STATUSES = ['active', 'paused', 'ended', 'failed'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return (
    status === 'completed' ||
    status === 'failed' ||
    status === 'interrupted' ||
    status === 'aborted'
  );
}

/** How a stop ends a run: `interrupt` can be resumed, `abort` is final. */
export type StopMode = 'interrupt' | 'abort';

export interface StopRequest {
  mode: StopMode;
  reason?: string;
  /** Who asked, for the audit trail. */
  by?: string;
}

/** Why a run failed: a closed set of codes, with text that is safe to show to a client. */
export interface RunError {
  code: string;
  message: string;
  retryable: boolean;
}

/** Argument of the workflow: ids only, the conversation stays in Redis. */
export interface RunInput {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  maxSteps: number;
  /** False when the server's search attributes could not be registered: then the run goes without. */
  searchAttributes: boolean;
  /** For operators: the model's name, and a page that shows the conversation. */
  model?: string;
  sessionUrl?: string;
  /** True for agents with an output schema: at the step cap the result is asked for once more. */
  hasOutput?: boolean;
  /** Present on a sub-agent's run: the call that it answers. */
  parent?: ParentRef;
  /** Where this execution goes on: a run of the same turn before it, or the same run continued as new. */
  from?: RunProgress;
}

/** The call that a sub-agent's run answers. */
export interface ParentRef {
  sessionId: string;
  runId: string;
  toolCallId: string;
  /** 1 for a sub-agent of a conversation's own agent. */
  depth: number;
}

/** What a run carries from one execution to the next. */
export interface RunProgress {
  /** Steps committed so far in this turn. */
  step: number;
  /** Highest sequence that was told. */
  known: number;
  /** How often the model handed in a result that does not fit the output schema. */
  invalidFinishes?: number;
  /** True while the model is asked for its result and nothing else. */
  mustFinish?: boolean;
  /** What it has used; absent where another run goes on with the turn. */
  spent?: Spent;
}

/** Result of the workflow: what an operator reads in the Temporal UI. */
export interface RunSummary {
  status: Exclude<TerminalStatus, 'failed'> | 'superseded';
  steps: number;
}

/** How a call is carried out. */
export type CallKind = 'server' | 'approval' | 'client' | 'subagent';

/**
 * What becomes of a call that nobody answered in time: an approval is denied or approved, a client
 * tool gets the result that stands in for the client's; without one it is an error.
 */
export type OnExpiry = 'deny' | 'approve' | { result: unknown };

/** A call as the workflow knows it: no arguments. */
export interface CallRef {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  /** Longest time for one execution, ms. */
  timeoutMs?: number;
  /** How long people may take to answer, ms from the pause on. */
  deadlineMs?: number;
  /** Present on calls of kind `subagent`: the run that carries them out. */
  child?: ChildRef;
}

/** A sub-agent's run, as its parent's step minted it. */
export interface ChildRef {
  sessionId: string;
  runId: string;
  agent: string;
  maxSteps: number;
  hasOutput?: boolean;
}

/**
 * Whether a step handed in the run's result. `valid`: the run ends with it once the step's calls are
 * settled; `invalid`: the model was told why; `missing`: it ended without one, and is asked for it.
 */
export type FinishVerdict = 'valid' | 'invalid' | 'missing';

/** What a run has used so far, for operators. */
export interface Spent {
  tokens: number;
  /** Millionths of a dollar; absent without prices. */
  microUsd?: number;
}

/** What a committed step leaves to do. Stored with the step, so that a repeated claim returns the same. */
export type StepOutcome =
  | {
      kind: 'calls';
      step: number;
      calls: CallRef[];
      sequence?: number;
      finish?: FinishVerdict;
      spent?: Spent;
    }
  | {
      kind: 'ended';
      step: number;
      status: TerminalStatus;
      error?: RunError;
      /** Sequence of the commit, if this attempt made it. */
      sequence?: number;
      spent?: Spent;
    }
  /** Another run owns the session now, or this one was ended elsewhere. */
  | { kind: 'superseded' }
  /** A call of the step before still waits: the wake-up was premature. */
  | { kind: 'not_ready' };

/** Which approved calls a completed batch of answers releases. */
export interface Resumption {
  step: number;
  approved: string[];
}

/** Payload of the `answer` signal: an audit line, and the batch if this answer completed it. */
export interface AnswerSignal {
  toolCallId: string;
  approved?: boolean;
  by?: string;
  resume?: Resumption;
  /** Sequence at which the answer was stored. */
  sequence?: number;
}

/** Payload of the `stop` signal; without `recorded` it was sent by hand and the stop is yet to be recorded. */
export interface StopSignal {
  recorded?: boolean;
  /** The record has ended the run, which waited for its provider: no attempt says so. */
  ended?: boolean;
}

/** Reply of the `agentState` query. */
export interface AgentState {
  runId: string;
  step: number;
  phase: 'model' | 'tools' | 'waiting' | 'ended';
  waitingFor: CallRef[];
  /** ms since the epoch; present while the run waits. */
  waitingSince?: number;
  /** By its newest committed step; absent before the first. */
  spent?: Spent;
}
