import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import type { BeginResult } from '../store/contract/runs.js';

/** Why no run began, as an error. */
export function toBeginRefusal(
  sessionId: string,
  result: Exclude<BeginResult, { kind: 'begun' | 'accepted' }>,
): HelixError {
  switch (result.kind) {
    // Accepted, and answered in its turn; there is no run yet to hand out.
    case 'queued':
    case 'steered':
    case 'interrupting':
    case 'busy':
      return new AgentAlreadyRunningError(sessionId);
    case 'queue_full':
      return new HelixError('queue_full', 'Too many messages wait in this conversation.');
    case 'conflict':
      return new HelixError(
        'message_conflict',
        'This message was sent before, with other content.',
        { detail: { messageId: result.messageId } },
      );
    case 'agent_mismatch':
      return new HelixError('agent_mismatch', 'This conversation is with another agent.', {
        detail: { agent: result.agent },
      });
    case 'foreign':
      return new HelixError('not_found', 'There is no such conversation.');
  }
}
