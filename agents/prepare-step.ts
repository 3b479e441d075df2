import type { ModelMessage } from 'ai';

/** What `prepareStep` decides by. */
export interface PrepareStepOptions {
  /** The conversation as the model would be told it, without the system prompt; not to be changed in place. */
  readonly messages: ModelMessage[];
  /** Step of the turn, from 1. */
  readonly step: number;
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's own state. */
  readonly state: unknown;
}

/** What `prepareStep` changes; what it leaves out stays as it is. */
export interface PreparedStep {
  /** What the model is told instead. Nothing that is stored changes. */
  readonly messages?: ModelMessage[];
}

/**
 * Called before each model call, under the name and in the shape of the AI SDK's. The AI SDK's
 * `pruneMessages` gives messages that it may return. Calls without a result and results without a
 * call are left out afterwards, since providers refuse them. What it throws ends the run as
 * `context_hook_failed`.
 */
export type PrepareStep = (
  options: PrepareStepOptions,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>;
