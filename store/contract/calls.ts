import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { SettleCall, SettleReply } from '../../session/answers.js';
import type {
  ExtendDeadline,
  ExtendDeadlineReply,
  LeaseCall,
  LeaseCallReply,
  NotStarted,
  Permission,
  StartCall,
  SuspendCall,
  SuspendReply,
  TakeCallId,
  TakeCallIdReply,
} from '../../session/calls.js';
import type { CustomState, Decoded } from '../../session/input.js';
import type { Noted } from './due.js';
import type { CallSpec, OpenCall } from './call-record.js';

export type {
  SettleCall as SettleCallInput,
  SettleReply as SettleCallResult,
} from '../../session/answers.js';
export type {
  ExtendDeadlineReply as ExtendDeadlineResult,
  LeaseCallReply as LeaseCallResult,
} from '../../session/calls.js';

/** Changes and reads of calls. A call is executed only with permission, and settled once. */
export interface Calls {
  /** Requests permission to execute a tool; nothing is stored before `noted` resolves. */
  start: (input: StartCallInput, noted?: Noted) => Promise<StartCallResult>;
  /** Lets a call wait for its webhook. */
  suspend: (input: SuspendCall) => Promise<SuspendReply>;
  /** Stores the one result of a call, or a person's decision about it. The first one wins. */
  settle: (input: SettleCall, noted?: Noted) => Promise<SettleReply>;
  extendDeadline: (input: ExtendDeadline) => Promise<ExtendDeadlineReply>;
  /** Reserves a client tool's call for one of several pages for a while. */
  lease: (input: LeaseCall) => Promise<LeaseCallReply>;
  /** A call of the newest committed step, or of a sub-agent's; undefined once a later step has read its result. */
  read: (sessionId: string, toolCallId: string) => Promise<OpenCall | undefined>;
  /** Returns an id that is unique in the conversation: the wanted one, or that with `_<n>`. */
  takeId: (input: TakeCallId) => Promise<TakeCallIdReply>;
  /** Calls that people or clients answer, by id. @throws HelixError `not_found` */
  pending: (sessionId: string) => Promise<Record<string, PendingCall>>;
  /** The reason for which a run is paused; null if it is not. @throws HelixError `not_found` */
  suspension: (sessionId: string) => Promise<SuspensionContext | null>;
}

export interface StartCallInput extends StartCall {
  withState?: boolean;
}

/** `state`: the agent's own state with the staged changes of settled calls, if requested. */
export type CallPermission = Decoded<Permission> & { state?: CustomState };

export type StartCallResult = CallPermission | NotStarted;

/** A call of the newest committed step that a person or a client answers. */
export interface PendingCall extends Pick<CallSpec, 'about' | 'approvers' | 'edited'> {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  input: unknown;
  runId: string;
  approvalId: string;
  /** Hash of `input`, with which an answer states the input that its author was shown. */
  inputHash: string;
  /** ms since the epoch by the store's clock; set when the run paused. */
  deadline?: number;
  /** False if the reader may not approve the call. */
  mayDecide?: boolean;
  response?: { decision?: Decision; row?: ToolRow };
}

export interface SuspensionContext {
  kind: 'suspended_client_tool' | 'suspended_awaiting_children' | 'suspended_step_partial';
  runId: string;
  stepId: string;
  toolCallIds: string[];
  sequence: number;
}
