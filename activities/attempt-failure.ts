/** Type of the failure with which a tool requests another execution. */
export const TOOL_RETRY = 'tool_retry';

/** Type of the failure of a call that has found no place among the tools of its process. */
export const TOOLS_BUSY = 'tools_busy';

/** What a failure says of the attempt that follows. */
export interface NextAttempt {
  /** Names the reason; operators read it. */
  type: string;
  /** Earliest time of the next attempt, ms from now. Default: as the retry policy says. */
  afterMs?: number;
  /** True for a wait that is no failure, such as for a provider. */
  isExpected?: boolean;
}

/** Ends an attempt at a step or call without a result: another attempt follows, on any worker. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  readonly next: NextAttempt;

  constructor(message: string, next: NextAttempt) {
    super(message);
    this.next = next;
  }
}

/** The attempt was cancelled, since its worker shuts down or its time is over. */
export class AttemptCancelled extends Error {
  override readonly name = 'AttemptCancelled';
}
