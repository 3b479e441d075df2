import { hasCode, HelixError } from '../../protocol/errors.js';
import { refusal } from '../../runs/refusals.js';

/** Strangers get the same error, so that they learn nothing. */
export function notFound(): HelixError {
  return refusal('not_found');
}

/** Refuses a client whose copy of a turn cannot be completed by adding to it. */
export function copyIsBehind(): HelixError {
  const text = 'This copy of the conversation is behind; load it again.';
  return new HelixError('client_out_of_step', text);
}

/** Refuses a message of an older turn, which is not streamed again. */
export function answeredBefore(): HelixError {
  const text = 'This message was answered before; load the conversation again.';
  return new HelixError('client_out_of_step', text);
}

/** Refuses a conversation whose agent was removed, or is a sub-agent only. */
export function agentUnavailable(): HelixError {
  return new HelixError('agent_not_found', "This conversation's agent is not available.");
}

export function agentRequired(): HelixError {
  return new HelixError('agent_required', 'Name an agent: a new conversation needs one.');
}

export function nothingToDo(): HelixError {
  const text = 'There is no new message and no answer in this request.';
  return new HelixError('nothing_to_do', text);
}

export function notQueued(): HelixError {
  return new HelixError('not_found', 'This message does not wait for its turn.');
}

export function invalid(message: string): HelixError {
  return new HelixError('validation_error', message);
}

/** Returns true if another request began a run meanwhile. */
export function isOvertaken(error: unknown): boolean {
  return hasCode(error, 'agent_already_running', 'stale_run');
}
