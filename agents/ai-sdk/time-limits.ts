import { DefinitionError } from '../definition-error.js';
import { type ModelChoice, isChoice } from '../llm-settings.js';
import type { ToolDefinition } from '../definitions.js';

/** Limits that the AI SDK's `timeout` setting becomes here. */
export interface TimeLimits {
  /** Limits of each model call. */
  call: Pick<ModelChoice, 'callMs' | 'firstPartMs'>;
  /** Longest silence of a model, ms. */
  stallTimeoutMs: number | undefined;
  /** Limit of each server-executed call of a tool, ms. */
  toolMs: (name: string) => number | undefined;
}

/**
 * Converts the AI SDK's `timeout`. Its step limit includes tools; here it bounds a model call.
 *
 * @throws DefinitionError for a limit of a whole run, which may wait for people for weeks
 */
export function toTimeLimits(timeout: unknown, agent: string): TimeLimits | undefined {
  if (timeout === undefined || timeout === null) return undefined;
  const {
    totalMs,
    stepMs,
    firstChunkMs,
    chunkMs,
    toolMs,
    tools = {},
  } = (typeof timeout === 'object' ? timeout : { totalMs: timeout }) as Partial<
    Record<string, number>
  > & { tools?: Readonly<Record<string, number>> };
  if (totalMs !== undefined) {
    const instead = 'use timeout: { stepMs, chunkMs, toolMs }, maxSteps and spendCap';
    throw new DefinitionError(`a run may wait for people, so nothing bounds its time; ${instead}`, {
      agent,
    });
  }
  return {
    call: {
      ...(stepMs !== undefined && { callMs: stepMs }),
      ...(firstChunkMs !== undefined && { firstPartMs: firstChunkMs }),
    },
    stallTimeoutMs: chunkMs,
    toolMs: (name) => tools[`${name}Ms`] ?? toolMs,
  };
}

/** Adds limits to models, as a list; models with their own limits keep them. */
export function withCallLimits(model: unknown, limits: TimeLimits | undefined): unknown {
  if (limits === undefined || Object.keys(limits.call).length === 0) return model;
  const models: readonly unknown[] = Array.isArray(model) ? model : [model];
  return models.map((each) => ({ ...limits.call, ...(isChoice(each) ? each : { model: each }) }));
}

/** Adds limits to tools; a tool with its own limit keeps it. */
export function withTimeLimits(
  tools: readonly ToolDefinition[],
  { toolMs }: TimeLimits,
): ToolDefinition[] {
  return tools.map((tool) => {
    const limit = toolMs(tool.name);
    if (limit === undefined || typeof tool.execute !== 'function') return tool;
    return tool.timeoutMs === undefined ? Object.freeze({ ...tool, timeoutMs: limit }) : tool;
  });
}
