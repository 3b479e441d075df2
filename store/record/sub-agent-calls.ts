import type { ChildRef } from '../../protocol/run.js';
import type { NewCall } from '../contract/call-record.js';

export function toChildRef(child: NonNullable<NewCall['child']>): ChildRef {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  return { sessionId, runId, agent, maxSteps, hasOutput, activities };
}
