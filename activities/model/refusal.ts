import type { AgentDefinition } from '../../agents/definitions.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import { AttemptFailure } from '../attempt-failure.js';
import type { ProviderFailure } from './provider-failure.js';
import { hasReached } from './spending.js';
import { SPEND_CAP_REACHED } from './step-outcome.js';
import { STOP_CONDITION_FAILED } from './stop-conditions.js';

/** Why the model is not asked. */
export function refusalOf(
  agent: AgentDefinition,
  verdict: 'continues' | 'done' | 'failed',
  used: RunUsage | undefined,
): ProviderFailure | undefined {
  if (verdict === 'failed') return STOP_CONDITION_FAILED;
  return hasReached(agent.spendCap, used) ? SPEND_CAP_REACHED : undefined;
}

/** Ends the attempt; the next one begins when the provider is to be asked again. */
export function waitingForProvider(ms: number): AttemptFailure {
  return new AttemptFailure('the model provider fails and is asked again later', {
    type: 'provider_wait',
    afterMs: ms,
    isExpected: true,
  });
}
