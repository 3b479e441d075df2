import { ApplicationFailure } from '@temporalio/activity';
import { LIMITS } from '../protocol/limits.js';
import type { Attempt } from './attempt.js';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;

/**
 * This worker does not know the agent, or the tool: during a deploy another one does. Said before the
 * record is asked for permission, so that nothing counts as begun.
 *
 * @throws ApplicationFailure `unknown_agent`, retryable, until none of them has known it for ten minutes
 */
export function leaveToNewerWorker(attempt: Attempt, what: string): void {
  if (attempt.ageMs() >= LIMITS.unknownAgentMs) return;
  throw ApplicationFailure.create({
    message: `This worker does not know ${what}.`,
    type: 'unknown_agent',
    nextRetryDelay: Math.min(FIRST_PAUSE_MS * 2 ** (attempt.number - 1), MAX_PAUSE_MS),
  });
}
