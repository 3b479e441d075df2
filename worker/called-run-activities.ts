import { ApplicationFailure } from '@temporalio/common';
import { AgentNotFoundError } from '../agents/registry.js';
import { createCalledRuns, type CalledRunsDeps } from '../executor/called-runs.js';
import { MessageWaitsError } from '../executor/run-of-message.js';
import type { CalledRunActivities } from '../protocol/called-runs.js';
import { HelixError } from '../protocol/errors.js';

/** How often a run is tried whose conversation is busy, or whose message waits. */
const BUSY_MS = 2_000;

/** The activities of workflows that begin runs. Refusals are failures of their code as type. */
export function createCalledRunActivities(deps: CalledRunsDeps): CalledRunActivities {
  const runs = createCalledRuns(deps);
  return {
    beginAgentRun: async (request) => {
      try {
        return await runs.beginAgentRun(request);
      } catch (error) {
        const isBusy = HelixError.isInstance(error) && error.code === 'agent_already_running';
        // An accepted message is answered in its turn, whatever its sender wants while others are busy.
        const waits = error instanceof MessageWaitsError || request.whenBusy === 'wait';
        throw isBusy && waits ? comeAgain(error) : toFailure(error);
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

function comeAgain({ message, code: type }: HelixError): ApplicationFailure {
  return ApplicationFailure.create({ message, type, nextRetryDelay: BUSY_MS });
}

/** What a repeated try does not mend is final; an outage is not. */
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
