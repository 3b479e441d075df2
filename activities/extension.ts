import type { CallActivityRef } from '../protocol/temporal.js';
import type { RunRef } from '../protocol/run.js';
import type { Store } from '../store/contract/store.js';
import type { StepMiddleware } from './model/middleware.js';

export type { ClaimedStep, ModelCall, ModelRequest, StepMiddleware } from './model/middleware.js';

/** A run, as its activity knows it. */
export interface RunOfWork extends RunRef {
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
  /** `traceparent` of the request that began the leg. */
  traceparent?: string | undefined;
}

/** One execution of a tool. */
export interface ToolExecution {
  ref: CallActivityRef;
  toolName: string;
  input: unknown;
  /** From 1. */
  number: number;
}

export interface ToolWatch {
  around: <T>(execute: () => Promise<T>) => Promise<T>;
  /** Called once its result is stored, or it is to be repeated; `error` is a code. */
  ended: (end: { output?: unknown; error?: string | undefined }) => void;
}

/** Wraps the work on runs, in the process that does it. What it throws counts as thrown by the work. */
export interface WorkMiddleware {
  /** Wraps a leg, a step, a call, or the end of a run. */
  run: <T>(run: RunOfWork, work: () => Promise<T>) => Promise<T>;
  /** Wraps each request to a model, once it is prepared. */
  request: StepMiddleware;
  /** Returns undefined for executions that it does not watch. */
  tool: (execution: ToolExecution) => ToolWatch | undefined;
}

/** Contributions of an extension to processes that execute runs. */
export interface ActivityExtension {
  work?: (store: Pick<Store, 'sessions' | 'calls'>) => WorkMiddleware;
}
