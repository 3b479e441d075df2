import type { RunError } from '../../../protocol/run.js';

/** Thrown for a run that failed or was stopped (`interrupted`). */
export class AgentRunError extends Error {
  override readonly name = 'AgentRunError';
  readonly code: string;
  readonly retryable: boolean;
  /** The conversation, which keeps everything written until then. */
  readonly sessionId: string;

  constructor({ code, message, retryable }: RunError, sessionId: string) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.sessionId = sessionId;
  }
}
