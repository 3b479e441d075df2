import { ChatRequestError, ReplyBrokenError } from '../../ai-sdk/client/index.js';
import { readProblem, type Snapshot } from './api-client.js';

/**
 * A failed response, by the page's reaction:
 * - `withdrawn`: the chat loads the conversation again and shows nothing,
 * - `unavailable`: the server could not be reached; the page offers a retry,
 * - `refused`: the server declined; the text goes back to the composer,
 * - `reply`: the run itself failed and gave its reason.
 */
export type Failure =
  { kind: 'withdrawn' } | { kind: 'unavailable' | 'refused' | 'reply'; text: string };

const FRIENDLY: Record<string, string> = {
  agent_already_running: 'A reply is still being written here. Send your message again after it.',
  agent_mismatch: 'This conversation belongs to another agent. Start a new chat to change it.',
  agent_not_found: 'There is no such agent on this server.',
  client_out_of_step: 'This conversation has moved on in another window. It is up to date again.',
  stale_run: 'This conversation has moved on in another window. It is up to date again.',
  already_completed: 'This question was already answered.',
  not_pending: 'This question was already answered.',
  body_too_large: 'The message is too long.',
  message_too_large: 'The message is too long.',
  unauthorized: 'You are not signed in.',
};

const LAST_FAILED = 'The last reply failed. You can continue with another message.';
export const UNAVAILABLE = 'The server is not available at the moment.';

/** Returns the reason of the newest failure in the words that a page saw live. */
export function describeFailure(run: Snapshot['run']): string {
  const { message } = run?.error ?? {};
  return message === undefined ? LAST_FAILED : toReplyFailure(message);
}

function toReplyFailure(message: string): string {
  return `The reply failed: ${message}`;
}

/** Returns the text of a refusal for people. */
export function describeRefusal({ responseBody }: ChatRequestError): string {
  const problem = readProblem(responseBody);
  const known = problem === undefined ? undefined : FRIENDLY[problem.code];
  return known ?? problem?.error ?? 'The server did not accept the message.';
}

export function classifyFailure(error: Error): Failure {
  if (error instanceof ChatRequestError) {
    return error.isPassing || error.statusCode >= 500
      ? { kind: 'unavailable', text: UNAVAILABLE }
      : { kind: 'refused', text: describeRefusal(error) };
  }
  if (ReplyBrokenError.isInstance(error) && error.reason === 'withdrawn') {
    return { kind: 'withdrawn' };
  }
  // The chat wraps the text of an `error` part in a plain Error. Stream and connection errors have
  // names of their own.
  if (error.name === 'Error') return { kind: 'reply', text: toReplyFailure(error.message) };
  return { kind: 'unavailable', text: UNAVAILABLE };
}
