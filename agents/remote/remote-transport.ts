import type { WireEvent } from '../../protocol/wire-events.js';

export interface RemoteStart {
  /** Derived from the call: a second start of the same call finds the first one's run. */
  sessionId: string;
  agentType: string;
  message: string;
  messageId: string;
  state?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** How runs on another server are reached. One that is not reached throws anything but RemoteRefusal. */
export interface RemoteAgentTransport {
  /** Starts the run, or finds it. @throws RemoteRefusal */
  start: (run: RemoteStart, signal: AbortSignal) => Promise<void>;
  /**
   * The events of the session after a sequence, over one connection: ends when that does.
   *
   * @throws RemoteRefusal
   */
  follow: (
    sessionId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncIterable<WireEvent>;
  /** Stops the run. @throws RemoteRefusal */
  stop: (sessionId: string, mode: 'interrupt' | 'abort', reason: string) => Promise<void>;
}

/** The other server answers, and will answer the same when it is asked again. */
export class RemoteRefusal extends Error {
  override readonly name = 'RemoteRefusal';
  /** Its error code, or the HTTP status; `not_found` if it knows no such run. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
