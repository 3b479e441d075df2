import type { Decision, Row } from '../../protocol/rows.js';
import type { Approvers } from '../../protocol/actor.js';
import type { CallKind, ChildRef, OnExpiry } from '../../protocol/run.js';
import type { CallDescription, CallEdit, NewCall } from '../../session/input.js';

export type { CallDescription, CallEdit, NewCall } from '../../session/input.js';
export type { Wake } from '../../session/resume.js';

/** What the model asked for, as committed. Only this record authorises an execution. */
export interface CallSpec {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  runId: string;
  step: number;
  approvalId?: string;
  /** How long people may take to answer, ms after the pause. */
  deadlineMs?: number;
  /** What happens if no answer comes in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without a person. */
  decision?: Decision;
  /** Who may approve, if the tool demands more than access to the conversation. */
  approvers?: Approvers;
  /** The run that carries out a call of kind `subagent`. */
  child?: ChildRef;
  /** Of a call that people answer. */
  about?: CallDescription;
  /** Who has changed `input` since, when, and from what; kept beside the call. */
  edited?: Omit<CallEdit, 'input'> & { from: unknown };
}

/** `suspended`: its tool waits for its webhook, and holds no process. */
export type CallState = 'open' | 'waiting' | 'approved' | 'started' | 'suspended' | 'settled';

/** A call of the newest committed step whose result no later step has read yet. */
export interface OpenCall {
  spec: CallSpec;
  state: CallState;
  /** Present once settled. */
  row?: Row;
  decision?: Decision;
  /** Sequence of the pause that asked. */
  askedAt?: number;
  /** ms since the epoch by the store's clock. */
  deadline?: number;
  /** What the address of its webhook holds. */
  hook?: string;
  /** True while people have not been asked: they are asked when the conversation pauses. */
  held?: boolean;
  /** Never stored: false if the one for whom the call was read may not approve it. */
  mayDecide?: boolean;
}

/** The run that carries a call out, without its first message. */
export function toChildRef(child: NonNullable<NewCall['child']>): ChildRef {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  return { sessionId, runId, agent, maxSteps, hasOutput, activities };
}
