import type { BeginInput, BeginResult, StopResult } from '../stores/session-store.js';
import type { Answers } from './answers.js';
import type { StopRequest } from '../protocol/run.js';

/** What the HTTP side asks of the runtime. Every method throws HelixError `unavailable` when Redis or Temporal cannot be reached. */
export interface AgentExecutor extends Answers {
  /** Accepts user messages and starts the workflow of the run made for them. */
  execute: (input: ExecuteInput) => Promise<BeginResult>;
  /** Stops the session's run; resolves as soon as the stop is recorded. */
  stop: (sessionId: string, stop: StopRequest & { runId?: string }) => Promise<StopResult>;
}

export type ExecuteInput = Omit<BeginInput, 'nonce' | 'now'>;
