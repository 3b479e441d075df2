import { HelixError } from '../protocol/errors.js';

export function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}

export function agentMismatch(agent: string): HelixError {
  return new HelixError('agent_mismatch', 'This conversation is with another agent.', {
    detail: { agent },
  });
}

/** True if somebody else has made a run meanwhile. */
export function isOvertaken(error: unknown): boolean {
  if (!HelixError.isInstance(error)) return false;
  return error.code === 'agent_already_running' || error.code === 'stale_run';
}
