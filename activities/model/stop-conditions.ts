import type { AgentDefinition } from '../../agents/definitions.js';
import type { AssistantRow, Row } from '../../protocol/rows.js';
import type { RunError } from '../../protocol/run.js';
import { cutOf, orAborted } from '../attempt.js';
import { untilStalled, type StepMiddleware } from './middleware.js';
import { toStepRecords } from './step-records.js';

/** The agent's own condition threw or hung. */
const STOP_CONDITION_FAILED: RunError = {
  code: 'stop_condition_failed',
  message: 'The agent could not decide whether it is done.',
  retryable: false,
};

/** Asks the agent's stop conditions once per attempt; they may end the run or force its result. */
export const stopConditions: StepMiddleware = (step) => {
  const { attempt, agent, rows, claim, warn } = step;
  let verdict: Promise<'done' | 'continues' | 'failed'> | undefined;

  async function ask(): Promise<'done' | 'continues' | 'failed'> {
    try {
      const { messageId } = claim;
      return (await isDone(agent, { rows, messageId }, untilStalled(step))) ? 'done' : 'continues';
    } catch (error) {
      // The following code handles a stop.
      if (cutOf(attempt) !== undefined) return 'continues';
      warn('a stop condition failed', error);
      return 'failed';
    }
  }

  return async (request, next) => {
    if (agent.stopWhen === undefined || request.ref.forceFinish === true) return next(request);
    const found = await (verdict ??= ask());
    if (found === 'failed') return { request, failure: STOP_CONDITION_FAILED };
    if (found === 'continues') return next(request);
    if (agent.outputSchema === undefined) return { request, isOver: true };
    // The next request asks an agent that owes a result for nothing else.
    request.ref = { ...request.ref, forceFinish: true };
    return next(request);
  };
};

/**
 * Returns true if the steps so far satisfy a condition. It runs before each step but the first,
 * once the previous calls are settled. A message that arrived meanwhile is answered in any case.
 *
 * @throws errors of a condition, and an error when the signal fires
 */
async function isDone(
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

/** Returns true if calling this AI SDK tool without `execute` is the agent's only way to end. */
function isOnlyEnd({ tools, toolChoice }: AgentDefinition, toolName: string): boolean {
  const open = tools.filter(
    ({ execute, forModel }) => execute === 'client' && forModel !== undefined,
  );
  if (open.length !== 1 || open[0]?.name !== toolName) return false;
  return typeof toolChoice === 'object'
    ? [toolName, open[0].listedAs].includes(toolChoice.toolName)
    : toolChoice === 'required';
}

/**
 * Returns the calls of a step that end the run, among those for pages. As in the AI SDK, a call
 * that meets a stop condition waits for no answer.
 *
 * @param asked calls that a page would execute
 * @throws errors of a condition, and an error when the signal fires
 */
export async function findEnds(
  agent: AgentDefinition,
  { rows, step }: { rows: readonly Row[]; step: AssistantRow },
  asked: readonly { toolCallId: string; toolName: string }[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const only = asked.filter(({ toolName }) => isOnlyEnd(agent, toolName));
  const ids = (calls: typeof asked) => new Set(calls.map(({ toolCallId }) => toolCallId));
  if (only.length > 0 || asked.length === 0 || agent.stopWhen === undefined) return ids(only);
  const { messageId } = step;
  const isMet = (parts: AssistantRow['parts']): Promise<boolean> =>
    isDone(agent, { rows: [...rows, { ...step, parts }], messageId }, signal);
  if (!(await isMet(step.parts))) return new Set();
  const without = ids(asked);
  // A condition that holds even without the calls, such as a step count, is checked again later.
  const others = step.parts.filter(
    (part) => part.type !== 'tool-call' || !without.has(part.toolCallId),
  );
  return (await isMet(others)) ? new Set() : without;
}
