/** Types, constants and names only, since workflow code imports this file. */

import type { Principal } from './actor.js';
import type {
  At,
  ChildRef,
  ParentRef,
  RunError,
  RunInput,
  RunRef,
  Spent,
  StopRequest,
  TerminalStatus,
  Asker,
  RunUsage,
} from './run.js';

export const WORKFLOW_TYPE = 'agentRun';
/** One firing of a schedule: a run of its agent. */
export const FIRING_WORKFLOW_TYPE = 'agentFiring';
/** Notices of a wait, the notice of a run's end, and the delivery of a notice to one receiver. */
export const WAIT_WORKFLOW_TYPE = 'notifyWaiting';
export const END_WORKFLOW_TYPE = 'notifyEnd';
export const DELIVERY_WORKFLOW_TYPE = 'deliver';

export const TOOL_WORK_WORKFLOW_TYPE = 'agentToolWork';

/** Message of a failure whose text is in its details, which only the payload codec can read. */
export const SEALED_FAILURE = 'Encrypted: see the details.';

/** Failure type of an attempt that did not begin because the store did not answer. */
export const STORE_UNREACHABLE = 'StoreUnreachable';

export const DEFAULT_TASK_QUEUE = 'agent-runs';

/** Tools have their own task queue, so that they never take the place of a model step. */
export function toolQueueOf(taskQueue: string): string {
  return `${taskQueue}-tools`;
}

/** Notices have their own task queue, so that a slow receiver never takes the place of a run. */
export function noticeQueueOf(taskQueue: string): string {
  return `${taskQueue}-notices`;
}

/** Returns Temporal's fairness key, by which tenants share a backlog fairly; at most 64 bytes. */
export function fairnessKeyOf(tenant = ''): string {
  let key = '';
  let bytes = 0;
  for (const character of tenant) {
    bytes += character < '\u0080' ? 1 : 4;
    if (bytes > 64) break;
    key += character;
  }
  return key;
}

/** Activities whose attempts are registered under the lease of their worker. */
export const LEASED_ACTIVITIES: ReadonlySet<string> = new Set<keyof RunActivities>([
  'modelStep',
  'toolCall',
  'leg',
]);

export const SIGNALS = {
  stop: 'stop',
  /** Asks a run to read its record again, perhaps with a hint. Harmless at any time. */
  look: 'look',
  /**
   * Sent to a sub-agent's run that is no longer a child of its parent, because the parent was
   * reset: once it has ended, it asks the parent to look.
   */
  reportEnd: 'reportEnd',
  waitOver: 'waitOver',
  /** Sent to the notices of a wait when a further call waits. */
  waitGrown: 'waitGrown',
} as const;
export const QUERIES = { agentState: 'agentState' } as const;
export const UPDATES = {
  approve: 'approve',
  deny: 'deny',
  submitToolResult: 'submitToolResult',
  extendDeadline: 'extendDeadline',
  stop: 'stop',
  /** The same as the signal. */
  look: 'look',
} as const;

/** Search attributes of a run; names and types are registered at start-up. */
export const SEARCH_ATTRIBUTES = {
  AgentSession: 'KEYWORD',
  AgentName: 'KEYWORD',
  AgentStatus: 'KEYWORD',
  AgentTenant: 'KEYWORD',
  AgentModel: 'KEYWORD',
  AgentTurn: 'INT',
} as const;

/** Lease fields of activity arguments, from workflows that reschedule lost attempts. */
export interface LeaseRef {
  isLeased?: true;
  /** The lost attempt that this one replaces. */
  replaces?: Pick<LostAttempt, 'token' | 'number' | 'blockedBy' | 'progress'> & {
    /** Number of lost attempts that had not begun. */
    unbegun?: number;
  };
}

/**
 * Outcome of an attempt whose worker cannot finish it, or died; the workflow schedules it again.
 */
export interface LostAttempt {
  kind: 'lost';
  /** Fence token of this attempt; its successor needs a higher one. */
  token: number;
  /** Number of attempts so far, including this one. */
  number: number;
  /** Set for a call that its worker handed over before the call might begin. */
  begun?: false;
  /** Set for a call that found no free slot in the models' queue. */
  moved?: true;
  /** The call whose tool blocked the worker until the worker was given up. */
  blockedBy?: string;
  /** Small state for the successor; only legs leave any. */
  progress?: unknown;
}

export interface TracedRef {
  /** `traceparent` of the request that began the leg; absent without traces. */
  traceparent?: string;
}

/** The interface between workflow and worker: ids and small summaries only, never a transcript. */
export interface StepRef extends RunRef, LeaseRef, TracedRef {
  turn: number;
  step: number;
  maxSteps: number;
  /** Highest sequence that the run has seen. */
  known: number;
  /** True if the model must submit its result, after a reply without one or at the step cap. */
  forceFinish?: boolean;
  /** Set on a sub-agent's first step: its session is created from this call. */
  parent?: ParentRef;
  /** Depth below the conversation's own agent; absent for that agent. */
  depth?: number;
}

/** Reason for giving up a call: its activity failed for good, or its tool blocked a worker. */
export type GivenUpCall = 'timed_out' | 'failed' | 'blocked';

export interface CallActivityRef extends RunRef, LeaseRef, TracedRef {
  step: number;
  toolCallId: string;
  toolName: string;
  /** Reason if the call is not executed again, so that this activity settles it. */
  givenUp?: GivenUpCall;
  /** Set if the activity is on the models' task queue, so that it can start eagerly. */
  eager?: true;
}

export interface EndRef extends RunRef, TracedRef {
  step: number;
  status: TerminalStatus;
  error?: RunError;
  known: number;
}

/** State of the record after an activity; every activity that changes the record returns it. */
export interface StateReply {
  at: At;
}

/** Reply of a model step. `eager`: number of its calls that may start eagerly. */
export interface ModelStepReply extends StateReply {
  spent?: Spent;
  eager?: number;
}

export interface ToolCallOutcome extends Partial<StateReply> {
  /** `suspended`: the tool waits and has left its process. */
  kind: 'settled' | 'stopped' | 'superseded' | 'suspended';
  /** Sequence of the result, if this attempt settled the call. */
  sequence?: number;
  /** Code of the error that the model gets as the result, if this attempt settled the call. */
  error?: string;
}

/** Argument of a leg, which carries the run from `at` to its next rest. */
export interface LegRef
  extends
    RunRef,
    Pick<RunInput, 'turn' | 'maxSteps' | 'hasOutput' | 'parent'>,
    LeaseRef,
    TracedRef {
  at: At;
}

/** Summary of a leg's step, for operators. */
export interface StepLine {
  step: number;
  /** Absent if the leg began with calls of a step that was committed earlier. */
  model?: string;
  /** Duration of the model call, ms. */
  ms?: number;
  /** Tokens of the model call, if the provider reported them. */
  input?: number;
  output?: number;
  calls?: CallLine[];
  more?: number;
}

export interface CallLine {
  tool: string;
  /** Duration of all executions, including the waits between them. */
  ms: number;
  /** `ok`, `stopped`, or the code of the error that the model gets. */
  outcome: string;
}

/** Reply of a leg; the workflow itself carries out `at.next`. */
export interface LegOutcome extends StateReply {
  spent?: Spent;
  steps: StepLine[];
}

/** A parent's call whose sub-agent has ended or was lost. */
export interface ChildEndRef extends Omit<CallActivityRef, 'toolName'> {
  child: ChildRef;
  /** True if the sub-agent was started before the parent was reset; it may still be active. */
  started?: boolean;
}

export interface LookRef extends RunRef {
  /** Newest that the run has seen; a record behind it was restored from a copy. */
  known: Pick<At, 'version' | 'sequence'>;
}

export type OperatorAnswer = OperatorTarget &
  (
    | { approved: boolean; reason?: string; input?: unknown }
    | { result: unknown }
    | { error: string }
  );

/** The call that an operator means, in the fields of `ShownCall`, and the operator's name. */
export interface OperatorTarget {
  toolCallId: string;
  approvalId?: string | undefined;
  inputHash?: string | undefined;
  by?: string | undefined;
}

export interface AnswerRef extends RunRef {
  answer: OperatorAnswer;
  /** Time of the operator's update, ms by the workflow's clock; all retries share it. */
  at?: number;
}

/** `refused` carries the reason: a code of HelixError. */
export type AnswerOutcome =
  | {
      kind: 'stored';
      /** The run that asked, which may be a sub-agent's, and its record's state. */
      runId: string;
      at: At;
    }
  | { kind: 'edited' }
  | Refused;

/** `waiting` names the call as it waits now, without its input: histories must hold none. */
export interface Refused {
  kind: 'refused';
  code: string;
  waiting?: { toolCallId: string; approvalId: string; inputHash: string };
}

export interface ExtendRef extends OperatorTarget {
  sessionId: string;
  runId: string;
  byMs: number;
}

export type ExtendOutcome = { kind: 'extended'; deadline: number } | Refused;

export interface RunActivities {
  /** One model call: claim, stream, commit. */
  modelStep: (ref: StepRef) => Promise<ModelStepReply | LostAttempt>;
  /** Model steps and tools, until the run ends or people or the workflow have to act. */
  leg: (ref: LegRef) => Promise<LegOutcome | LostAttempt>;
  toolCall: (ref: CallActivityRef) => Promise<StateReply | LostAttempt>;
  /** Ends the run in Redis; does nothing if it has ended. */
  endRun: (ref: EndRef) => Promise<StateReply>;
  /**
   * Leaves a stop record, as the API does. `waited`: this ended a run that waited for its provider.
   */
  stopRun: (ref: { sessionId: string; runId: string; stop: StopRequest }) => Promise<StopRunReply>;
}

export interface StopRunReply extends StateReply {
  waited?: boolean;
}

export interface ChildActivities {
  /** Settles a call with the result of its sub-agent, unless the sub-agent is still running. */
  settleChild: (ref: ChildEndRef) => Promise<StateReply & { isAtWork?: boolean }>;
}

export interface AnswerActivities {
  /** Settles calls that are overdue by the store's clock, then reads the run's next action. */
  look: (ref: LookRef) => Promise<StateReply>;
  /** Stores an operator's answer, with the same changes as the API. */
  answerCall: (ref: AnswerRef) => Promise<AnswerOutcome>;
  extendDeadline: (ref: ExtendRef) => Promise<ExtendOutcome>;
}

/** Executor of a call: an activity or a Nexus operation of the tool's author. */
export type ToolWork =
  | {
      kind: 'activity';
      name: string;
      taskQueue: string;
      options: ToolWorkTimes & {
        scheduleToStartTimeout?: number;
        startToCloseTimeout?: number;
        heartbeatTimeout?: number;
        retry: {
          initialInterval?: number;
          maximumInterval?: number;
          backoffCoefficient?: number;
          maximumAttempts?: number;
          nonRetryableErrorTypes?: string[];
        };
      };
    }
  | {
      kind: 'nexus';
      endpoint: string;
      service: string;
      name: string;
      options: ToolWorkTimes;
    };

interface ToolWorkTimes {
  scheduleToCloseTimeout: number;
}

/** The call that the work is for: the second argument of an activity. */
export interface ToolWorkCall {
  idempotencyKey: string;
  sessionId: string;
  runId: string;
  toolCallId: string;
  requester?: Principal;
  approver?: Principal;
}

export interface ToolWorkInput {
  work: ToolWork;
  input: unknown;
  call: ToolWorkCall;
}

/** Carries work out once for each call, however often it is asked to. @throws ToolError */
export type ExecuteToolWork = (
  request: ToolWorkInput,
  how: {
    signal: AbortSignal;
    /** True if the signal fired because another attempt takes over the wait. */
    isHandedOver: () => boolean;
    /** True if an earlier attempt may have started it. */
    isRepeated: boolean;
    /** True if Temporal may have forgotten an earlier attempt's work, so nothing is started. */
    mayBeGone: boolean;
  },
) => Promise<unknown>;

/** Settings of a run that a workflow of another program begins by an activity. */
export interface CalledRunOptions {
  sessionId?: string;
  /** Owner of the conversation. Default: `anonymous`. */
  userId?: string;
  tenantId?: string;
  /** Person who asks, if not the owner. Neither may approve calls with `separateApprover`. */
  by?: string;
  /** Everyone who asks, the author of the message first. Default: `by`. */
  askers?: readonly Asker[];
  /** The conversation's state from now on, in the shape of the agent's state schema. */
  state?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** Id of the message; a request repeated with it refers to the same run. Default: a new one. */
  messageId?: string;
  /**
   * Policy while another run of the conversation is active or waits for people. `fail` (default)
   * fails with type `agent_already_running`. `wait` retries with back-off up to a minute, also
   * while a quota or a budget refuses the run. `abandon` is `fail`, except that it interrupts a run
   * that waits for people and withdraws its questions, as a person's message does.
   */
  whenBusy?: 'fail' | 'wait' | 'abandon';
  /** Omits text and output from the result, so that no history holds them. */
  withoutReply?: boolean;
}

/** A run to begin, with ids that all retries of the activity share. */
export interface CalledRunRequest extends Omit<CalledRunOptions, 'sessionId' | 'messageId'> {
  agent: string;
  message: string;
  sessionId: string;
  messageId: string;
}

export interface CalledRun {
  sessionId: string;
  runId: string;
  /** Arguments of its workflow; absent if it was started before, or the run waits for its agent. */
  start?: CalledRunStart;
}

export interface CalledRunStart {
  input: RunInput;
  details: string;
  tenant?: string | undefined;
}

/** A run by its stored session id and run id, or by the message that may have begun it. */
export type CalledRunRef =
  | { sessionId: string; runId: string }
  | Pick<CalledRunRequest, 'sessionId' | 'tenantId' | 'userId' | 'messageId'>;

export type CalledRunUsage = RunUsage;

export type CalledRunResult<Output = unknown> = {
  sessionId: string;
  runId: string;
  text: string;
  /** True if the text was cut to a length that suits a history; the conversation has the rest. */
  isCut?: true;
  usage?: CalledRunUsage;
} & (
  | {
      status: 'completed';
      output?: Output;
    }
  /** An aborted run fails, too, with code `framework_cancelled`. */
  | { status: 'failed'; error: RunError }
  | { status: 'interrupted'; reason?: string }
);

export type CalledRunLook = { kind: 'at_work' } | { kind: 'ended'; result: CalledRunResult };

export interface CalledRunActivities {
  /** Begins a run; a retry returns the same run. */
  beginAgentRun: (request: CalledRunRequest) => Promise<CalledRun>;
  lookAtAgentRun: (ref: {
    sessionId: string;
    runId: string;
    withoutReply?: boolean;
  }) => Promise<CalledRunLook>;
  /** Stops the run as the API does; does nothing if it has ended or never began. */
  stopAgentRun: (
    ref: CalledRunRef & { mode?: 'interrupt' | 'abort'; reason?: string },
  ) => Promise<void>;
}
