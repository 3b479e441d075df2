import type { Decision, Row } from '../../protocol/rows.js';
import type { ChildRef } from '../../protocol/run.js';
import type { CallSpec, NewCall } from '../../session/input.js';

export type { CallDescription, CallEdit, CallSpec, NewCall } from '../../session/input.js';
export type { Wake } from '../../session/unpause.js';

/** `suspended`: its tool waits for its webhook, and holds no process. */
export type CallState = 'open' | 'waiting' | 'approved' | 'started' | 'suspended' | 'settled';

/** A call of the newest committed step whose result no later step has read yet. */
export interface OpenCall {
  spec: CallSpec;
  state: CallState;
  row?: Row;
  decision?: Decision;
  /** Sequence of the pause that asked. */
  askedAt?: number;
  /** ms since the epoch by the store's clock. */
  deadline?: number;
  /** Secret in the address of its webhook. */
  hook?: string;
  /** True while people have not been asked: they are asked when the conversation pauses. */
  held?: boolean;
  /** False if the reader may not approve the call. Never stored. */
  mayDecide?: boolean;
}

/** Returns the run that carries a call out, without its first message. */
export function toChildRef(child: NonNullable<NewCall['child']>): ChildRef {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  return { sessionId, runId, agent, maxSteps, hasOutput, activities };
}
