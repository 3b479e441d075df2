import type { AgentDefinition } from '../../agents/definitions.js';
import type { Row } from '../../protocol/rows.js';
import type { RunError } from '../../protocol/run.js';
import { orAborted } from '../or-aborted.js';
import { toStepRecords } from './step-records.js';

/** The agent's own condition threw, or did not come back. */
export const STOP_CONDITION_FAILED: RunError = {
  code: 'stop_condition_failed',
  message: 'The agent could not decide whether it is done.',
  retryable: false,
};

/**
 * True if the turn's steps so far are enough. Asked before each step but the first, when the calls of
 * the step before are settled. A message that came meanwhile is answered in any case.
 *
 * @throws what a condition throws, and when the signal fires
 */
export async function isDone(
  agent: AgentDefinition,
  { rows, messageId }: { rows: readonly Row[]; messageId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { stopWhen } = agent;
  if (stopWhen === undefined || rows.at(-1)?.role === 'user') return false;
  const steps = toStepRecords(agent, rows, messageId);
  if (steps.length === 0) return false;
  const conditions = typeof stopWhen === 'function' ? [stopWhen] : stopWhen;
  const met = Promise.all(conditions.map(async (condition) => await condition({ steps })));
  return (await orAborted(met, signal)).some(Boolean);
}
