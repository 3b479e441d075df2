import type { WorkflowFailedError } from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  NexusOperationFailure,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { ToolError } from '../agents/tool-error.js';
import type { ToolWork } from '../protocol/tool-work.js';

/**
 * What the model gets of work that failed. What the author's code threw is its own words: the cause of that
 * is not the model's. Of all else that may have had an effect nothing is claimed. Pure.
 */
export function toToolError(work: ToolWork, failed: WorkflowFailedError): ToolError {
  const { cause } = failed;
  if (!(cause instanceof ActivityFailure || cause instanceof NexusOperationFailure)) {
    return toUnknown(work, failed);
  }
  const thrown = cause.cause;
  if (thrown instanceof ApplicationFailure) {
    return new ToolError('tool_execution_failed', thrown.message, failed);
  }
  const isUntaken =
    thrown instanceof TimeoutFailure && thrown.timeoutType === TimeoutType.SCHEDULE_TO_START;
  // An earlier try may have had its effect; what a Nexus operation waited for is not known here.
  if (isUntaken && work.kind === 'activity' && work.options.retry.maximumAttempts === 1) {
    return new ToolError('tool_timeout', `No worker took "${work.name}" in time.`, failed);
  }
  return toUnknown(work, failed);
}

export function toUnknown({ name }: ToolWork, why: unknown): ToolError {
  return new ToolError('tool_outcome_unknown', `Whether "${name}" took effect is not known.`, why);
}

/** Of work that never began. */
export function toUnstarted({ name }: ToolWork, why: unknown): ToolError {
  return new ToolError('tool_execution_failed', `"${name}" could not be started.`, why);
}
