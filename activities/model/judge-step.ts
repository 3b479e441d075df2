import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Attempt } from '../attempt.js';
import { AttemptCancelled } from '../attempt-failure.js';
import type { ActivityLogger } from '../deps.js';
import type { AskedStep } from './call-options.js';
import { toLoggedError } from './provider-failure.js';
import { isDone } from './stop-conditions.js';

type Judge = (
  step: { ref: StepRef; attempt: Attempt },
  of: Pick<AskedStep, 'rows' | 'messageId'> & { agent: AgentDefinition },
) => Promise<'done' | 'continues' | 'failed'>;

/** What the agent's own conditions say, before the model is asked. */
export function createJudge(logger: ActivityLogger): Judge {
  return async ({ ref, attempt }, { agent, ...turn }) => {
    if (agent.stopWhen === undefined || ref.forceFinish === true) return 'continues';
    const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
    const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(stallTimeoutMs)]);
    try {
      return (await isDone(agent, turn, signal)) ? 'done' : 'continues';
    } catch (error) {
      if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
      // A stop is found by what follows.
      if (attempt.cutReason() !== undefined) return 'continues';
      const err = toLoggedError(error);
      logger.warn({ err, runId: ref.runId, step: ref.step }, 'a stop condition failed');
      return 'failed';
    }
  };
}
