import type { Responder } from '../protocol/responder.js';

/** The call that a responder wants to approve. */
export interface ApprovalRequest {
  /** The conversation, and its owner. */
  readonly sessionId: string;
  readonly owner: string;
  readonly tenantId?: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** What would be executed: the model's input, or the responder's own version of it. */
  readonly input: unknown;
}

/**
 * Decides whether a responder may approve a call. It is asked when the question is shown, with the
 * model's input, and again for the answer. One that throws refuses.
 */
export type ApproverRule = (
  responder: Responder,
  request: ApprovalRequest,
) => ApproverVerdict | Promise<ApproverVerdict>;

/** `reason` is shown to the responder. */
export type ApproverVerdict = boolean | { readonly allowed: boolean; readonly reason?: string };
