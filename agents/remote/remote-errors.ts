import { ToolError } from '../tool-error.js';

/** A remote run waits for somebody in front of a screen, and nobody is there. */
export class RemoteSubAgentClientToolUnsupportedError extends ToolError {
  override readonly name = 'RemoteSubAgentClientToolUnsupportedError';

  constructor(agentType: string) {
    super(
      'remote_subagent_client_tool_unsupported',
      `The remote agent "${agentType}" asked for a person's answer, which it cannot be given from here.`,
    );
  }
}

/** Why nothing more is known of a remote run. */
export type LostCause = 'not_found' | 'status_unreachable' | `refused:${string}`;

/** What became of a remote run cannot be told. */
export class RemoteSubAgentLostError extends ToolError {
  override readonly name = 'RemoteSubAgentLostError';
  readonly lost: LostCause;

  constructor(agentType: string, lost: LostCause, cause?: unknown) {
    super('framework_subagent_lost', `The remote agent "${agentType}" was lost (${lost}).`, cause);
    this.lost = lost;
  }
}

/** The remote run came to its end, and that was a failure. */
export class RemoteSubAgentFailedError extends ToolError {
  override readonly name = 'RemoteSubAgentFailedError';

  constructor(agentType: string, message: string) {
    super('subagent_failed', `The remote agent "${agentType}" failed: ${message}`);
  }
}
