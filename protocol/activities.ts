import type {
  At,
  ChildRef,
  ParentRef,
  RunError,
  RunInput,
  Spent,
  StopRequest,
  TerminalStatus,
} from './run.js';

/** What a workflow that schedules lost attempts again says to its activities. */
export interface LeaseRef {
  isLeased?: true;
  /** The lost attempt that this one replaces. */
  replaces?: Pick<LostAttempt, 'token' | 'number' | 'blockedBy' | 'progress'> & {
    /** How many of the lost attempts had not begun. */
    unbegun?: number;
  };
}

/**
 * The outcome of an attempt whose worker died, or cannot finish it: the workflow schedules it again.
 */
export interface LostAttempt {
  kind: 'lost';
  /** Its fence token: that of its successor must be higher. */
  token: number;
  /** How many attempts there were with it. */
  number: number;
  /** Set for a call that its worker handed over before it was permitted to begin. */
  begun?: false;
  /** Set for a call that was to start eagerly in a process without a place for it: nothing was lost. */
  moved?: true;
  /** The call whose tool has held up its worker until that was given up. */
  blockedBy?: string;
  /** What it left for its successor, small; only legs leave something. */
  progress?: unknown;
}

export interface TracedRef {
  /** `traceparent` of the request that began the leg; absent without traces. */
  traceparent?: string;
}

/** The interface between workflow and worker: ids and small summaries only, never a transcript. */
export interface StepRef extends LeaseRef, TracedRef {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  step: number;
  maxSteps: number;
  /** Highest sequence that the run has seen. */
  known: number;
  /** The model must submit its result now: it ended without one, or the step cap is reached. */
  forceFinish?: boolean;
  /** Set on a sub-agent's first step: its session is created from this call. */
  parent?: ParentRef;
  /** Depth below the conversation's own agent; absent for that agent. */
  depth?: number;
}

/** Why: the activity that was to execute it has failed for good, or its tool has held up a worker. */
export type GivenUpCall = 'timed_out' | 'failed' | 'blocked';

export interface CallActivityRef extends LeaseRef, TracedRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  toolCallId: string;
  toolName: string;
  /** Set if the call is not executed again: this activity settles it. */
  givenUp?: GivenUpCall;
  /** Set if it was scheduled on the task queue of the models, so that it can start eagerly. */
  eager?: true;
}

export interface EndRef extends TracedRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Highest sequence that the run has seen. */
  known: number;
}

/** What the record says after an activity. Every activity that changes it replies so. */
export interface Said {
  at: At;
}

/** Of a step: what the run has used by then, and how many of its calls may start eagerly, in the same process. */
export interface StepSaid extends Said {
  spent?: Spent;
  eager?: number;
}

export interface ToolCallOutcome {
  /** `suspended`: the tool waits and has left its process. */
  kind: 'settled' | 'stopped' | 'superseded' | 'suspended';
  /** Sequence of the result, if this attempt settled the call. */
  sequence?: number;
  /** Code of the error that the model gets as the result, if this attempt settled the call. */
  error?: string;
}

/** From where an activity carries a run to its next rest. */
export interface LegRef
  extends
    Pick<RunInput, 'sessionId' | 'runId' | 'agent' | 'turn' | 'maxSteps' | 'hasOutput' | 'parent'>,
    LeaseRef,
    TracedRef {
  at: At;
}

/** A step of a leg, as operators read it. */
export interface StepLine {
  step: number;
  /** Absent where the leg began with calls of a step that was committed before. */
  model?: string;
  /** How long the model took, ms. */
  ms?: number;
  /** Tokens of the reply, as far as the provider reported them. */
  input?: number;
  output?: number;
  calls?: CallLine[];
  /** Number of further calls. */
  more?: number;
}

export interface CallLine {
  tool: string;
  /** All executions of the call, with the waits between them. */
  ms: number;
  /** `ok`, `stopped`, or the code of the error that the model gets. */
  outcome: string;
}

/** `at`: what comes next is by the workflow's hand. */
export interface LegOutcome extends Said {
  spent?: Spent;
  /** The newest steps of the leg. */
  steps: StepLine[];
}

/** A parent's call whose sub-agent has ended or was lost. */
export interface ChildEndRef extends Omit<CallActivityRef, 'toolName'> {
  child: ChildRef;
  /** True if the sub-agent's workflow ended without reporting an outcome. */
  lost?: boolean;
  /** True if the sub-agent was started before the parent was reset; it may still be active. */
  started?: boolean;
}

export interface LookRef {
  sessionId: string;
  runId: string;
  agent: string;
  /** The newest that the run has seen: a record that is behind it was restored from a copy. */
  known: Pick<At, 'version' | 'sequence'>;
}

/** An operator's answer, entered in the Temporal UI or CLI. */
export type OperatorAnswer = OperatorTarget &
  (
    | { approved: boolean; reason?: string; input?: unknown }
    | { result: unknown }
    | { error: string }
  );

/** The call that an operator means, as `ShownCall` has it, and who the operator is. */
export interface OperatorTarget {
  toolCallId: string;
  approvalId?: string | undefined;
  inputHash?: string | undefined;
  by?: string | undefined;
}

export interface AnswerRef {
  sessionId: string;
  runId: string;
  agent: string;
  answer: OperatorAnswer;
  /** When the operator sent it, ms by the workflow's clock: the same however often it is tried. */
  at?: number;
}

/** `refused` carries the reason: a code of HelixError. */
export type AnswerOutcome =
  | {
      kind: 'stored';
      /** The run that asked, which may be a sub-agent's, and what it does now. */
      runId: string;
      at: At;
    }
  /** The changed input waits for another person. */
  | { kind: 'edited' }
  | Refused;

/** With the names of the call as it waits now, if the answer did not name it so. Inputs are in no history. */
export interface Refused {
  kind: 'refused';
  code: string;
  waiting?: { toolCallId: string; approvalId: string; inputHash: string };
}

export interface ExtendRef extends OperatorTarget {
  sessionId: string;
  runId: string;
  /** ms to add to the deadline. */
  byMs: number;
}

export type ExtendOutcome = { kind: 'extended'; deadline: number; nextDueMs: number } | Refused;

export interface RunActivities {
  /** One model call: claim, stream, commit. */
  modelStep: (ref: StepRef) => Promise<StepSaid | LostAttempt>;
  /** Model steps and tools, until the run ends, people have to act or the workflow has to. */
  leg: (ref: LegRef) => Promise<LegOutcome | LostAttempt>;
  /** One tool execution: ask permission, execute, settle. */
  toolCall: (ref: CallActivityRef) => Promise<Said | LostAttempt>;
  /** Ends the run in Redis; does nothing if it has ended. */
  endRun: (ref: EndRef) => Promise<Said>;
  /**
   * Leaves a stop record, as the API does; used for a cancel from the Temporal UI. `waited`: this ended a run that
   * was waiting for its provider.
   */
  stopRun: (ref: { sessionId: string; runId: string; stop: StopRequest }) => Promise<StopSaid>;
}

export interface StopSaid extends Said {
  waited?: boolean;
}

/** Sub-agents. */
export interface ChildActivities {
  /** Settles a call with the result of its sub-agent, unless that is at work. */
  settleChild: (ref: ChildEndRef) => Promise<Said & { isAtWork?: boolean }>;
}

/** Answers of people, and expired calls. */
export interface AnswerActivities {
  /** Reads what the run does next, once calls were settled whose deadline has passed by the store's clock. */
  look: (ref: LookRef) => Promise<Said>;
  /** Stores an operator's answer, with the same transitions as the API. */
  answerCall: (ref: AnswerRef) => Promise<AnswerOutcome>;
  /** Moves a deadline to a later time. */
  extendDeadline: (ref: ExtendRef) => Promise<ExtendOutcome>;
}
