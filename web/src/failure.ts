import { APICallError } from 'ai';
import { isPassing, readProblem, type Snapshot } from './api-client.js';

/**
 * Why a response ended badly, by what the page does next:
 * - `broken`: the connection or the stream; take up again where the server stands,
 * - `unavailable`: the server could not say whether it took the message; look, then offer a retry,
 * - `refused`: the server declines; give the text back,
 * - `reply`: the run itself failed and said so.
 */
export type Failure =
  { kind: 'broken' } | { kind: 'unavailable' | 'refused' | 'reply'; text: string };

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

const LAST_FAILED = 'The last reply failed. You can go on with another message.';
const UNAVAILABLE = 'The server is not available at the moment.';

/** Why the newest reply failed, in the words in which it was told live. */
export function describeFailure(run: Snapshot['run']): string {
  const { message } = run?.error ?? {};
  return message === undefined ? LAST_FAILED : toReplyFailure(message);
}

function toReplyFailure(message: string): string {
  return `The reply failed: ${message}`;
}

export function classifyFailure(error: Error): Failure {
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const problem = readProblem(error.responseBody);
    if (!isPassing(error.statusCode)) {
      const known = problem === undefined ? undefined : FRIENDLY[problem.code];
      const text = known ?? problem?.error ?? 'The server did not accept the message.';
      return { kind: 'refused', text };
    }
    // Following a reply submits nothing, so there is nothing to offer again.
    if (error.url.endsWith('/stream')) return { kind: 'broken' };
    return { kind: 'unavailable', text: UNAVAILABLE };
  }
  // The client wraps the text of an `error` part into a plain Error; faults of the stream itself
  // and of the connection have names of their own.
  if (error.name === 'Error') return { kind: 'reply', text: toReplyFailure(error.message) };
  return { kind: 'broken' };
}
