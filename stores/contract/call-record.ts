import type { StreamChunk } from '../../protocol/chunk.js';
import type { Decision, Row } from '../../protocol/rows.js';
import type { CallKind, ChildRef, OnExpiry, Resumption } from '../../protocol/run.js';

/** What was asked for, as committed; the only authority for an execution. */
export interface CallSpec {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  runId: string;
  step: number;
  approvalId?: string;
  /** How long people may take to answer, from the pause on. */
  deadlineMs?: number;
  /** What becomes of the call when nobody answers in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without asking anybody. */
  decision?: Decision;
  /** The run that carries out a call of kind `subagent`. */
  child?: ChildRef;
}

export type CallState = 'open' | 'waiting' | 'approved' | 'started' | 'settled';

/** A call of the newest committed step that no later step has taken in yet. */
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
  /** Nobody has been asked yet: that waits until the conversation pauses. */
  held?: boolean;
}

/** A call that a step opens. */
export interface NewCall {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  /** Settled from the start: an invalid or unknown call, or one that a stop overtook. */
  row?: Row;
  /** Longest time for one execution. */
  timeoutMs?: number;
  /** How long a person or client may take to answer, from the pause on. */
  deadlineMs?: number;
  /** What becomes of it when nobody answers in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without asking anybody; the call is carried out as the server's own. */
  decision?: Decision;
  /** May be executed again when it had started on a worker that was lost. */
  idempotent?: boolean;
  /** Of kind `subagent`: the run that carries it out, and the message that this begins with. */
  child?: ChildRef & { message: string };
  /** The chunk that asks people; kept back until the conversation pauses, and written then. */
  ask?: StreamChunk;
}

/** A run that answers let go on. */
export interface Wake {
  sessionId: string;
  runId: string;
  resume: Resumption;
}
