import type { JsonPatchOperation, StreamMessage } from '../../protocol/chunk.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { Resumption } from '../../protocol/run.js';
import type { CallSpec, OpenCall, Wake } from './call-record.js';
import type { Writer } from './log.js';
import type { AttemptBudget } from './steps.js';

/** Calls: each is executed only by permission, and settled once. */
export interface Calls {
  /** Permission to execute a tool. */
  start: (input: StartCallInput) => Promise<StartCallResult>;
  /** Stores the one result of a call, or the decision about it; the first one wins. */
  settle: (input: SettleCallInput) => Promise<SettleCallResult>;
  /** Gives people more time to answer a call that waits. */
  extendDeadline: (input: ExtendDeadlineInput) => Promise<ExtendDeadlineResult>;
  /**
   * Reserves a client tool for one of several pages, for a while; the same page may renew it. Pages
   * agree among themselves with it: answers are accepted from all of them.
   */
  lease: (input: LeaseCallInput) => Promise<LeaseCallResult>;
  /**
   * One call of the newest committed step, or undefined once a later step has taken it in. Calls of
   * sub-agents are found at the conversation.
   */
  read: (sessionId: string, toolCallId: string) => Promise<OpenCall | undefined>;
  /**
   * An id for a call that no other call of the conversation has: the wanted one, or that with `_<n>`
   * behind it. The same `call` gets the same id again.
   */
  takeId: (input: TakeCallIdInput) => Promise<TakeCallIdResult>;
  /** The calls of the newest step that people or clients answer, by id. @throws HelixError `not_found` */
  pending: (sessionId: string) => Promise<Record<string, PendingCall>>;
  /** What a paused run waits for; null while it is not paused. @throws HelixError `not_found` */
  suspension: (sessionId: string) => Promise<SuspensionContext | null>;
}

export interface StartCallInput {
  writer: Writer;
  toolCallId: string;
  now: number;
  /** How many executions of an idempotent tool may be lost. Default: five within an hour. */
  budget?: AttemptBudget;
}

export type StartCallResult =
  | {
      kind: 'execute';
      call: CallSpec;
      execution: number;
      /** The approval that this execution rests on. */
      decision?: Decision;
      /** Step of the conversation in which a sub-agent's call is shown. */
      shownIn?: number;
    }
  | { kind: 'settled' }
  | { kind: 'stopped' }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  /** Not approved, or not a call of this run. */
  | { kind: 'refused' };

export type SettleCallInput =
  | {
      /** What the sub-agent that carried the call out came to. */
      source: 'child';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that delegated. */
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
      /** What the call wants changed in the agent's own state: staged with its result. */
      changes?: JsonPatchOperation[];
      /** It has said something beside its result, which its row is to keep. */
      hasEvents?: boolean;
      /** The call's result is the run's: this is what the run came to. */
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
      /** Present when denied: the call's result. */
      row?: ToolRow;
      chunks: StreamMessage[];
      now: number;
    }
  | {
      /** A client's result or error; an approval takes an error only, and is not carried out then. */
      source: 'client';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      row: ToolRow;
      /** What the model is told of the answer if it has been told of the timeout. */
      late?: string;
      chunks: StreamMessage[];
      now: number;
    }
  | {
      /** The deadline has passed by the store's clock, and nobody has answered. */
      source: 'expiry';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      /** The tool's own decision about an approval. */
      decision?: Decision;
      /** The call's result; absent if the decision approves. */
      row?: ToolRow;
      chunks: StreamMessage[];
      now: number;
    };

export type SettleCallResult =
  /**
   * Stored; `resume` if it was the last answer that the conversation waited for: what the run that
   * asked goes on with. `others`: what other runs of the conversation go on with.
   */
  | { kind: 'stored'; sequence: number; resume?: Resumption; others?: Wake[] }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'kind_mismatch' }
  | { kind: 'stale_run' }
  | { kind: 'fenced' }
  /** The answer came after the deadline. */
  | { kind: 'expired' }
  /** A client's answer after the model was told of the timeout: the model is told of it, once. */
  | { kind: 'late' }
  /** The deadline has not passed yet, or there is none. */
  | { kind: 'not_due'; dueInMs?: number };

export interface ExtendDeadlineInput {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  /** How much later, ms. */
  byMs: number;
  /** The deadline that was read, ms since the epoch: sent again, the request adds nothing. */
  deadline: number;
  now: number;
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
  /** The call waits without a deadline, or its clock does not run yet. */
  | { kind: 'no_deadline' }
  | { kind: 'expired' }
  /** Further ahead than LIMITS.deadlineAheadMs. */
  | { kind: 'too_far' };

export interface TakeCallIdInput {
  sessionId: string;
  /** The run whose step makes the call. */
  runId: string;
  /** What tells the call from others of its session. */
  call: string;
  wanted: string;
}

export type TakeCallIdResult = { kind: 'taken'; id: string } | { kind: 'superseded' };

export interface LeaseCallInput {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  /** Who wants to carry it out. */
  holder: string;
  forMs: number;
}

export type LeaseCallResult =
  | { kind: 'leased' }
  /** Somebody else carries it out, for so long at most. */
  | { kind: 'held'; forMs: number }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'stale_run' }
  | { kind: 'kind_mismatch' };

/** A call that waits, or waited, for a person or a client; of the newest committed step. */
export interface PendingCall {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  input: unknown;
  runId: string;
  approvalId?: string;
  /** ms since the epoch by the store's clock; set when the run paused. */
  deadline?: number;
  /** Present once answered. */
  response?: { decision?: Decision; row?: ToolRow };
}

/** Why a run rests. */
export interface SuspensionContext {
  kind: 'suspended_client_tool' | 'suspended_awaiting_children' | 'suspended_step_partial';
  runId: string;
  stepId: string;
  /** Calls that are not answered yet. */
  toolCallIds: string[];
  /** Sequence of the pause. */
  sequence: number;
}
