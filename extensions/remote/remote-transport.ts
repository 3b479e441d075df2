import type { WireEvent } from '../../protocol/agent-server.js';
import { ToolError } from '../../agents/index.js';

export interface RemoteStart {
  /** Derived from the call: a second start of the same call finds the first one's run. */
  sessionId: string;
  agentType: string;
  message: string;
  messageId: string;
  state?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** Reaches runs on another server. If the server cannot be reached, it throws anything but RemoteRefusal. */
export interface RemoteAgentTransport {
  /** Starts the run, or finds it. @throws RemoteRefusal */
  start: (run: RemoteStart, signal: AbortSignal) => Promise<void>;
  /**
   * The events of the session after a sequence, over one connection; ends with the connection.
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

/** The other server refused, and would refuse the same request again. */
export class RemoteRefusal extends Error {
  override readonly name = 'RemoteRefusal';
  /** Its error code, or the HTTP status; `not_found` if it knows no such run. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A remote run waits for a person, and this server cannot ask one. */
export class RemoteSubAgentClientToolUnsupportedError extends ToolError {
  override readonly name = 'RemoteSubAgentClientToolUnsupportedError';

  constructor(agentType: string) {
    super(
      'remote_subagent_client_tool_unsupported',
      `The remote agent "${agentType}" asked for a person's answer, which it cannot be given from here.`,
    );
  }
}

export type LostCause = 'not_found' | 'status_unreachable' | `refused:${string}`;

/** The outcome of a remote run is unknown. */
export class RemoteSubAgentLostError extends ToolError {
  override readonly name = 'RemoteSubAgentLostError';
  readonly lost: LostCause;

  constructor(agentType: string, lost: LostCause, cause?: unknown) {
    super('framework_subagent_lost', `The remote agent "${agentType}" was lost (${lost}).`, cause);
    this.lost = lost;
  }
}

export class RemoteSubAgentFailedError extends ToolError {
  override readonly name = 'RemoteSubAgentFailedError';

  constructor(agentType: string, message: string) {
    super('subagent_failed', `The remote agent "${agentType}" failed: ${message}`);
  }
}
