import type { RunError } from '../../../protocol/run.js';

/** A run that did not complete: it has failed, or was stopped (`interrupted`). */
export class AgentRunError extends Error {
  override readonly name = 'AgentRunError';
  readonly code: string;
  readonly retryable: boolean;
  /** Its conversation, which has what was written until then. */
  readonly sessionId: string;

  constructor({ code, message, retryable }: RunError, sessionId: string) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.sessionId = sessionId;
  }
}
