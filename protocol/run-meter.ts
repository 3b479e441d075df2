import type { Usage } from './chunk.js';
import type { NoticeType } from './notices.js';
import type { TerminalStatus } from './run.js';

/** How an attempt at a step ended. */
export type AttemptEnd =
  /** Its reply was stored. */
  | 'committed'
  /** Its reply was cut by a stop or a failure, and the part that people saw was stored. */
  | 'cut'
  /** Its provider failed: what it wrote was withdrawn. */
  | 'discarded'
  /** It was given back: the worker leaves, or an engine is away. */
  | 'left'
  /** Code of this project threw. */
  | 'fault'
  /** A newer attempt, or another run, took its place. */
  | 'fenced'
  /** The store is older than the run: it was restored from a backup. */
  | 'rewound'
  /** Too many attempts before it were lost. */
  | 'exhausted';

/** A model as an attempt used it. */
export interface UsedModel {
  agent: string;
  provider: string;
  model: string;
}

/**
 * Something that happened to a run, once for each time that it happened. The process that caused it
 * reports it, after the record has it: a process that dies in between reports nothing, so counts may
 * be too low, never too high.
 */
export type RunEvent =
  /** `code`: of a run that failed. */
  | { kind: 'run_ended'; agent: string; status: TerminalStatus; code?: string }
  /** `code`: why the provider's reply was withdrawn. */
  | { kind: 'attempt_ended'; outcome: AttemptEnd; code?: string }
  /** `code`: how the provider failed. */
  | ({ kind: 'model_called'; seconds: number; firstSeconds?: number; code?: string } & UsedModel)
  /** `tenant` is known only where it is counted; empty without one. */
  | ({
      kind: 'tokens_used';
      run: { sessionId: string; runId: string };
      usage: Usage & { costMicroUsd?: number };
      tenant?: string;
    } & UsedModel)
  /** `tool`: the name in the agent's definition; `other` for a name that only a model knows. */
  | { kind: 'tool_executed'; agent: string; tool: string; seconds: number; code?: string }
  | { kind: 'tool_retried'; tool: string }
  | {
      kind: 'call_answered';
      /** Who was asked: a person, or a client. */
      asked: 'approval' | 'client';
      decision: 'approved' | 'denied' | 'result' | 'error' | 'expired';
      /** The channel. */
      source: string;
      /** Since the question was asked; absent if that is unknown. */
      waitedSeconds?: number;
    }
  /** `found`: what the sweeper did about a session that needed something. */
  | { kind: 'session_swept'; found: string }
  /** A budget was found to be spent: once for each, and day or month. */
  | { kind: 'budget_spent'; of: 'user' | 'tenant'; period: 'day' | 'month' }
  /** A worker died: once for each, however often its lease is judged. */
  | { kind: 'lease_judged' }
  | { kind: 'attempt_taken_over'; isDone: boolean }
  /** Another worker judged this one, which lives. */
  | { kind: 'lease_lost' }
  /**
   * A notice and one of its receivers: it was taken, it was not taken and is tried again, or it was given
   * up. `seconds`: from a question until its first notice was taken.
   */
  | {
      kind: 'notice_tried';
      type: NoticeType;
      outcome: 'delivered' | 'retried' | 'failed';
      seconds?: number;
    };

/** Counts what happens to runs; it neither throws nor waits. */
export type RunMeter = (event: RunEvent) => void;

/** For processes that count nothing. */
export const NO_METER: RunMeter = () => undefined;
