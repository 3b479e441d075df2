import { HelixError } from '../../protocol/errors.js';

export function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}

/** The client shows a part of a turn that cannot be completed by adding to it. */
export function copyIsBehind(): HelixError {
  const text = 'This copy of the conversation is behind; load it again.';
  return new HelixError('client_out_of_step', text);
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
