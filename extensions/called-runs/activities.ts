import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { AgentNotFoundError } from '../../agents/index.js';
import { createCalledRuns, type CalledRunsDeps } from './called-runs.js';
import { MessageWaitsError } from '../../runs/refusals.js';
import type { CalledRunActivities } from '../../protocol/temporal.js';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import { retryDelay } from '../../protocol/time.js';

/**
 * Back-off: a conversation may wait for people for weeks. Without jitter, callers that began together would try
 * together, and one at a time get through.
 */
const TRIES = { firstMs: 2_000, mostMs: 60_000, jitter: 0.5 };

/** Creates the activities of workflows that begin runs. A refusal fails with its code as type. */
export function createCalledRunActivities(deps: CalledRunsDeps): CalledRunActivities {
  const runs = createCalledRuns(deps);
  return {
    beginAgentRun: async (request) => {
      try {
        return await runs.beginAgentRun(request);
      } catch (error) {
        // An accepted message waits for its turn, whatever `whenBusy` says.
        const waits = error instanceof MessageWaitsError || request.whenBusy === 'wait';
        throw waits && passes(error) ? comeAgain(error) : toFailure(error);
      }
    },
    lookAtAgentRun: (ref) => orFailure(() => runs.lookAtAgentRun(ref)),
    stopAgentRun: (ref) => orFailure(() => runs.stopAgentRun(ref)),
  };
}

async function orFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error);
  }
}

/** Returns true for a refusal that lapses when other runs or the period of a budget end. */
function passes(error: unknown): error is HelixError {
  if (!HelixError.isInstance(error)) return false;
  if (error.code !== 'quota_exceeded') return PASSES.has(error.code);
  // Quotas of conversations and bytes free up only when people delete some.
  return (error.detail as { what?: unknown } | undefined)?.what === 'runs';
}

const PASSES = new Set<ErrorCode>(['agent_already_running', 'budget_exceeded']);

function comeAgain({ message, code: type }: HelixError): ApplicationFailure {
  const { attempt } = Context.current().info;
  const nextRetryDelay = retryDelay({ attempt, ...TRIES });
  return ApplicationFailure.create({ message, type, nextRetryDelay });
}

/** Makes refusals non-retryable; an outage stays retryable. */
function toFailure(error: unknown): unknown {
  if (error instanceof AgentNotFoundError) {
    return ApplicationFailure.nonRetryable(error.message, 'agent_not_found');
  }
  if (!HelixError.isInstance(error) || error.code === 'unavailable') return error;
  const { message, code: type, detail } = error;
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    ...(detail !== undefined && { details: [detail] }),
  });
}
