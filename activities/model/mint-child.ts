import { randomBytes } from 'node:crypto';
import { resolveMaxSteps } from '../../agents/define-agent.js';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { formatChildSessionId, rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { NewCall } from '../../stores/contract/call-record.js';

const NONCE_BYTES = 12;

/** True where another sub-agent would be too deep. */
export function isTooDeep({ depth = 0 }: Pick<StepRef, 'depth'>): boolean {
  return depth >= LIMITS.subAgentDepth;
}

/** The run that carries a call out; its ids cannot be guessed. */
export function mintChild(
  sessionId: string,
  { agent, toMessage }: NonNullable<ToolDefinition['subAgent']>,
  input: unknown,
): NonNullable<NewCall['child']> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const id = formatChildSessionId(rootOf(sessionId), 1, nonce);
  return {
    sessionId: id,
    runId: `${id}:1-${randomBytes(6).toString('hex')}`,
    agent: agent.name,
    maxSteps: Math.min(resolveMaxSteps(agent), Number.MAX_SAFE_INTEGER),
    ...(agent.outputSchema !== undefined && { hasOutput: true }),
    message: toMessage(input),
  };
}
