import type { AgentExecutor, ResumeInput } from './agent-executor.js';
import { readInput, type AgentInput } from './agent-input.js';

/** How a run is taken up again. */
export interface ResumeOptions {
  /**
   * Default: `with_message` if there is a message, else `continue`, which goes on where the run was
   * interrupted. `with_confirmation` is the same, and kept on record with who confirmed.
   */
  mode?: NonNullable<ResumeInput['mode']>;
  /** Begins a new turn of the session. */
  message?: AgentInput;
  /** For `from_checkpoint`: everything after it is dropped for good. */
  checkpointId?: string;
  /** Who asked, for the record. */
  by?: string;
}

/** Takes a session up again. @returns the id of the run that goes on, as AgentExecutor's `resume` throws */
export async function resumeSession(
  runs: Pick<AgentExecutor, 'resume'>,
  { sessionId, runId, message, ...options }: ResumeOptions & { sessionId: string; runId?: string },
): Promise<string> {
  const mode = options.mode ?? (message === undefined ? 'continue' : 'with_message');
  const messages = message === undefined ? undefined : readInput(message, {}).messages;
  const result = await runs.resume({
    sessionId,
    ...options,
    mode,
    ...(runId !== undefined && { runId }),
    ...(messages && { messages }),
  });
  return result.kind === 'resumed' ? result.run.runId : result.runId;
}
