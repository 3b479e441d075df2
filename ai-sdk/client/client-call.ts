/** The call whose handler failed. */
export interface FailedCall {
  toolName: string;
  toolCallId: string;
}

export interface ClientCall extends FailedCall {
  sessionId: string;
  /** Fires when the call is over or its result is not needed any more; the lease ends with it. */
  abortSignal: AbortSignal;
}

/**
 * Requests the right to carry out a call, so that only one of several pages does. Resolves to false if the result is
 * not needed any more, and to a number if another page has the lease: ask again after that many ms.
 */
export type LeaseClientCall = (call: ClientCall) => Promise<boolean | number>;
