import type { AgentDefinition } from '../../agents/definitions.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CallRef } from '../../protocol/run.js';
import { toRetryDelay } from './execute-tool.js';

/**
 * The settings of a call's own activity; undefined if it needs none. In the shape `leg` a tool also
 * needs one if it may take longer than a leg can wait for it, or pauses for long between two
 * executions. Pure.
 */
export function activityOf(
  { tools, activities }: Pick<AgentDefinition, 'tools' | 'activities'>,
  toolName: string,
): CallRef['activity'] {
  const tool = tools.find(({ name }) => name === toolName);
  if (tool?.activity !== undefined || activities !== 'leg') return tool?.activity;
  const { timeoutMs = 0, retry } = tool ?? {};
  const pauseMs = retry === undefined ? 0 : toRetryDelay(retry, retry.attempts - 1);
  return timeoutMs > LIMITS.toolMs || pauseMs > LIMITS.waitInPlaceMs ? {} : undefined;
}
