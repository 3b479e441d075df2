/** The call that a handler failed at. */
export interface FailedCall {
  toolName: string;
  toolCallId: string;
}

export interface ClientCall extends FailedCall {
  sessionId: string;
  /** Fires when the call is over, or nobody wants its result any more: the lease is not needed then. */
  abortSignal: AbortSignal;
}

/**
 * Asks for the right to carry out a call, so that of two pages only one does: false if nobody waits for
 * the result; a number if another page has it, and it is worth asking again after so many ms.
 */
export type LeaseClientCall = (call: ClientCall) => Promise<boolean | number>;
