import type {
  ChildRef,
  ParentRef,
  Resumption,
  RunError,
  StepOutcome,
  StopRequest,
  TerminalStatus,
} from './run.js';

/** The seam between workflow and worker: ids and small summaries only, never a transcript. */
export interface StepRef {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  step: number;
  maxSteps: number;
  /** Highest sequence that the run was told of. */
  known: number;
  /** The model has to hand in its result now: it ended without one, or the step cap is reached. */
  forceFinish?: boolean;
  /** How often it handed in one that does not fit. */
  invalidFinishes?: number;
  /** On a sub-agent's first step: its session is made from this call. */
  parent?: ParentRef;
  /** Sub-agents between the conversation and this one; absent for the conversation's own agent. */
  depth?: number;
}

export interface CallActivityRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  toolCallId: string;
  /** Absent in runs of 0.2.0. */
  toolName?: string;
}

export interface EndRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Highest sequence that the run was told of. */
  known: number;
}

export interface ToolCallOutcome {
  /** `at_work`: of a sub-agent that has not ended. */
  kind: 'settled' | 'stopped' | 'superseded' | 'at_work';
  /** Sequence of the result, if this attempt settled the call. */
  sequence?: number;
  /** The tool's result is the run's: it ends when the other calls of the step are settled. */
  finish?: boolean;
}

/** A parent's call whose sub-agent has come to its end, or was lost. */
export interface ChildEndRef extends CallActivityRef {
  child: ChildRef;
  /** True when the sub-agent's workflow ended without a word. */
  lost?: boolean;
  /** True when it was started before the parent was reset: it may still be active. */
  started?: boolean;
}

export interface ExpireRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
}

export interface ExpireOutcome {
  /** Present when the last open answer of the batch was settled. */
  resume?: Resumption;
  sequence?: number;
  /** When the next deadline is due, ms from now; absent if none is left. */
  nextDueMs?: number;
  /** True while others still work, so that nobody was asked yet: deadlines run from the pause on. */
  isUnasked?: boolean;
}

/** An operator's answer, given in the Temporal UI or CLI. */
export type OperatorAnswer =
  | { toolCallId: string; approved: boolean; reason?: string; input?: unknown; by?: string }
  | { toolCallId: string; result: unknown; by?: string }
  | { toolCallId: string; error: string; by?: string };

export interface AnswerRef {
  sessionId: string;
  runId: string;
  agent: string;
  answer: OperatorAnswer;
}

/** `refused` names why: a code of HelixError. */
export type AnswerOutcome =
  | {
      kind: 'stored';
      /** The run to wake: that of a sub-agent if the call is its own. */
      runId: string;
      resume?: Resumption;
      sequence: number;
    }
  | { kind: 'refused'; code: string };

export interface ExtendRef {
  sessionId: string;
  runId: string;
  toolCallId: string;
  /** ms to add to the deadline. */
  byMs: number;
  by?: string;
}

export type ExtendOutcome =
  { kind: 'extended'; deadline: number; nextDueMs: number } | { kind: 'refused'; code: string };

export interface RunActivities {
  /** One model call: claim, stream, commit. */
  modelStep: (ref: StepRef) => Promise<StepOutcome>;
  /** One tool execution: ask permission, execute, settle. */
  toolCall: (ref: CallActivityRef) => Promise<ToolCallOutcome>;
  /** Ends the run in Redis; harmless when it has ended. */
  endRun: (ref: EndRef) => Promise<TerminalStatus | 'superseded'>;
  /** Leaves a stop record, as the API does; for a cancel from the Temporal UI. True if that ended a run that waits for its provider. */
  stopRun: (ref: { sessionId: string; runId: string; stop: StopRequest }) => Promise<boolean>;
}

/** Sub-agents. */
export interface ChildActivities {
  /** Settles a call with what its sub-agent came to. */
  settleChild: (ref: ChildEndRef) => Promise<ToolCallOutcome>;
}

/** Answers of people, and their absence. */
export interface AnswerActivities {
  /** Settles calls whose deadline has passed by the store's clock. */
  expireCalls: (ref: ExpireRef) => Promise<ExpireOutcome>;
  /** Carries out an operator's answer, by the same scripts as the API. */
  answerCall: (ref: AnswerRef) => Promise<AnswerOutcome>;
  /** Puts a deadline off. */
  extendDeadline: (ref: ExtendRef) => Promise<ExtendOutcome>;
}
