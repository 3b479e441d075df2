import type { JSONPatchOperation, StreamMessage } from '../../protocol/chunk.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { KnownPerson } from '../../protocol/responder.js';
import type { Resumption } from '../../protocol/run.js';
import type { Act } from './audit.js';
import type { CallEdit, CallSpec, OpenCall, Wake } from './call-record.js';
import type { CustomState } from './custom-state.js';
import type {
  Journal,
  RecordStepInput,
  RecordStepResult,
  SuspendCallInput,
  SuspendCallResult,
} from './journal.js';
import type { Writer } from './log.js';
import type { AttemptBudget } from './steps.js';

/** Calls: each is executed only with permission, and settled once. */
export interface Calls {
  /** Requests permission to execute a tool. */
  start: (input: StartCallInput) => Promise<StartCallResult>;
  /** Notes in a call's journal that a step of its tool begins, or the step's result. */
  recordStep: (input: RecordStepInput) => Promise<RecordStepResult>;
  /** Lets a call wait for another one, which becomes a call of the same step. */
  suspend: (input: SuspendCallInput) => Promise<SuspendCallResult>;
  /** Stores the one result of a call, or a person's decision about it. The first one wins. */
  settle: (input: SettleCallInput) => Promise<SettleCallResult>;
  /** Gives people more time to answer a waiting call. */
  extendDeadline: (input: ExtendDeadlineInput) => Promise<ExtendDeadlineResult>;
  /**
   * Reserves a client tool's call for one of several pages for a while; the same page may renew it.
   * The lease only coordinates pages: an answer is accepted from any of them.
   */
  lease: (input: LeaseCallInput) => Promise<LeaseCallResult>;
  /**
   * One call of the newest committed step; undefined once a later step has read its result. Calls
   * of sub-agents are found at the conversation.
   */
  read: (sessionId: string, toolCallId: string) => Promise<OpenCall | undefined>;
  /**
   * Returns a call id that is unique in the conversation: the wanted one, or the wanted one with
   * `_<n>` appended. The same `call` gets the same id again.
   */
  takeId: (input: TakeCallIdInput) => Promise<TakeCallIdResult>;
  /**
   * Calls of the newest step that people or clients answer, by id. @throws HelixError `not_found`
   */
  pending: (sessionId: string) => Promise<Record<string, PendingCall>>;
  /** What a paused run waits for; null if it is not paused. @throws HelixError `not_found` */
  suspension: (sessionId: string) => Promise<SuspensionContext | null>;
}

export interface StartCallInput {
  writer: Writer;
  toolCallId: string;
  now: number;
  /** How many executions of an idempotent tool may be lost. Default: five within an hour. */
  budget?: AttemptBudget;
  /** Also read the agent's own state. */
  withState?: boolean;
  /** The tool can find out whether a lost execution took effect. Default: false. */
  canVerify?: boolean;
  /** What it found, if it found no result; sent by the attempt that was asked to `verify`. */
  verified?: 'not_done' | 'unknown';
}

/** Permission to execute a call. */
export interface CallPermission {
  /** `verify`: an execution was lost, and the tool is asked about it before anything else. */
  kind: 'execute' | 'verify';
  call: CallSpec;
  execution: number;
  /** The decision that allows this execution. */
  decision?: Decision;
  /** The person who approved it, if verified. */
  approver?: KnownPerson;
  /** The author of the messages of the conversation's turn. */
  requester?: KnownPerson;
  /** Step of the conversation in which a sub-agent's call is shown. */
  shownIn?: number;
  /** The agent's own state including staged changes of settled calls, if it was wanted. */
  state?: CustomState;
  /** What the tool has done in earlier executions; absent if it has recorded nothing. */
  journal?: Journal;
}

export type StartCallResult =
  | CallPermission
  | { kind: 'settled' }
  | { kind: 'stopped' }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  /** Its tool waits, at most this long. */
  | { kind: 'suspended'; dueInMs?: number }
  /** The call is not approved, or does not belong to this run. */
  | { kind: 'refused' };

export type SettleCallInput =
  | {
      /** Result of the sub-agent that carried the call out. */
      source: 'child';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that delegated the call. */
      runId: string;
      row: ToolRow;
      chunks: StreamMessage[];
      now: number;
    }
  | {
      source: 'tool';
      writer: Writer;
      toolCallId: string;
      row: ToolRow;
      /** Changes to the agent's own state, staged together with the result. */
      changes?: JSONPatchOperation[];
      /** True if the call emitted events, which its row keeps. */
      hasEvents?: boolean;
      /** Result of the run, if this call ends it. */
      output?: unknown;
      chunks: StreamMessage[];
      now: number;
    }
  | {
      source: 'approval';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      decision: Decision;
      /** The person who approves, if verified; told with the permission to execute the call, and in no row. */
      approver?: KnownPerson | undefined;
      /** The input is changed, and waits for another person: nothing is decided yet. */
      edit?: CallEdit;
      /** The edit that was shown, 0 for none. The answer is not taken if the call has another one by now. */
      shownEdit?: number;
      /**
       * True if the answer was checked while the call waited, and its giver is one that the call's
       * `approvers` accept. Default: it is not stored.
       */
      permitted?: boolean;
      /** The call's result; present if it was denied. */
      row?: ToolRow;
      chunks: StreamMessage[];
      now: number;
      /** For the audit trail. */
      act?: Act;
    }
  | {
      /**
       * A client's result or error. An approval accepts only an error, and is then not executed.
       */
      source: 'client';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      row: ToolRow;
      /** As for an approval. */
      shownEdit?: number;
      /** As for an approval; one that comes after the timeout needs it only if there are `approvers`. */
      permitted?: boolean;
      /** Text for the model, if it already got the timeout as the result. */
      late?: string;
      chunks: StreamMessage[];
      now: number;
      /** For the audit trail. */
      act?: Act;
    }
  | {
      /** A request from elsewhere to the webhook that a tool waits for. */
      source: 'webhook';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run whose tool waits. */
      runId: string;
      row: ToolRow;
      chunks: StreamMessage[];
      now: number;
      /** For the audit trail. */
      act?: Act;
    }
  | {
      /** The deadline has passed by the store's clock without an answer. */
      source: 'expiry';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      /** The decision that the tool declares for an approval that expires. */
      decision?: Decision;
      /** The call's result; absent if the decision approves. */
      row?: ToolRow;
      chunks: StreamMessage[];
      now: number;
      /** For the audit trail. */
      act?: Act;
    };

export type SettleCallResult =
  /**
   * Stored. If it was the last answer that the conversation waited for: `resume`, what the run that
   * asked continues with, and `others`, other runs of the conversation that continue.
   */
  | { kind: 'stored'; sequence: number; resume?: Resumption; others?: Wake[] }
  /** The changed input is stored, and the call waits for another person. */
  | { kind: 'edited'; sequence: number }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'kind_mismatch' }
  /** The call demands another approver. */
  | { kind: 'not_allowed' }
  | { kind: 'stale_run' }
  | { kind: 'fenced' }
  /** The answer came after the deadline. */
  | { kind: 'expired' }
  /** A client's answer after the model got the timeout; the model is informed once. */
  | { kind: 'late' }
  /** The deadline has not passed yet, or the call has none. */
  | { kind: 'not_due'; dueInMs?: number };

export interface ExtendDeadlineInput {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  /** How much later the deadline becomes, ms. */
  byMs: number;
  /**
   * The deadline that the requester has seen, ms since the epoch, so that a repeated request does
   * not add the time twice.
   */
  deadline: number;
  now: number;
  /** For the audit trail. */
  act?: Act;
}

export type ExtendDeadlineResult =
  | {
      kind: 'extended';
      /** ms since the epoch by the store's clock. */
      deadline: number;
      dueInMs: number;
    }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'stale_run' }
  /** The call has no deadline, or its clock has not started. */
  | { kind: 'no_deadline' }
  | { kind: 'expired' }
  /** Further ahead than LIMITS.deadlineAheadMs. */
  | { kind: 'too_far' };

export interface TakeCallIdInput {
  sessionId: string;
  /** The run whose step makes the call. */
  runId: string;
  /** Identifies the call within its session. */
  call: string;
  wanted: string;
}

export type TakeCallIdResult = { kind: 'taken'; id: string } | { kind: 'superseded' };

export interface LeaseCallInput {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  /** The page that wants to carry the call out. */
  holder: string;
  forMs: number;
}

export type LeaseCallResult =
  | { kind: 'leased' }
  /** Another page holds the lease for at most this long. */
  | { kind: 'held'; forMs: number }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'stale_run' }
  | { kind: 'kind_mismatch' };

/** A call of the newest committed step that a person or a client answers. */
export interface PendingCall extends Pick<CallSpec, 'about' | 'approvers' | 'edited'> {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  input: unknown;
  runId: string;
  approvalId: string;
  /** Hash of `input`, by which an answer says what its author was shown. */
  inputHash: string;
  /** ms since the epoch by the store's clock; set when the run paused. */
  deadline?: number;
  /** False if the one for whom it was read may not approve it. */
  mayDecide?: boolean;
  /** Present once answered. */
  response?: { decision?: Decision; row?: ToolRow };
}

/** Why a run is paused. */
export interface SuspensionContext {
  kind: 'suspended_client_tool' | 'suspended_awaiting_children' | 'suspended_step_partial';
  runId: string;
  stepId: string;
  /** Calls that are not answered yet. */
  toolCallIds: string[];
  /** Sequence of the pause. */
  sequence: number;
}
