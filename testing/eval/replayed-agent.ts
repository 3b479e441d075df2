import { z } from 'zod';
import {
  ToolError,
  type AgentDefinition,
  type LlmConfig,
  type ToolDefinition,
  type ToolSource,
} from '../../agents/index.js';
import type { RecordedCalls } from './recorded-calls.js';
import { wasLeft } from './was-left.js';

type Execute = Extract<ToolDefinition['execute'], (...args: never) => unknown>;

export interface ReplayOptions {
  recorded: RecordedCalls;
  /** Tools that really execute unrecorded calls. */
  live: ReadonlySet<string>;
  /** Replacement for the agent's own model. */
  model?: LlmConfig['model'] | undefined;
  /** Returns a call's input as the model gave it, before the tool's schema parsed it. */
  inputOf: (toolCallId: string) => Promise<unknown>;
  /** Called for an unrecorded call. */
  drifted: (tool: string, input: unknown) => void;
}

/**
 * Copies an agent so that its tools return recorded results. The copy has no tool sources, which would
 * execute calls, and no `onStepFinish` and `onFinish`, which may have side effects.
 */
export function toReplayedAgent(agent: AgentDefinition, options: ReplayOptions): AgentDefinition {
  const { toolSources = [], onStepFinish, onFinish, ...rest } = agent;
  const { model = agent.llmConfig.model } = options;
  const { models, ...llmConfig } = agent.llmConfig;
  const own = agent.tools.map((tool) => toReplayedTool(tool, options));
  const names = new Set(own.map(({ name }) => name));
  const ofSources = options.recorded.tools
    .filter((name) => !names.has(name))
    .flatMap((name) => {
      const source = toolSources.find((each) => each.owns(name));
      return source === undefined ? [] : [toSourceTool(name, source, options)];
    });
  return Object.freeze({
    ...rest,
    tools: [...own, ...ofSources],
    llmConfig: { ...llmConfig, ...(options.model === undefined && models && { models }), model },
  });
}

function toReplayedTool(tool: ToolDefinition, options: ReplayOptions): ToolDefinition {
  const { execute, name } = tool;
  if (execute === 'client') return tool;
  // Results were validated when they were recorded; activity settings have no meaning here.
  const { outputSchema, subAgent, verify, retry, activity, timeoutMs, idempotent, send, ...rest } =
    tool;
  const isLive = options.live.has(name) && typeof execute === 'function';
  return { ...rest, execute: toReplay(name, options, isLive ? execute : undefined) };
}

/** Replaces a tool of a tool source, of which the recording has only the calls. */
function toSourceTool(
  name: string,
  { toModelOutput }: ToolSource,
  options: ReplayOptions,
): ToolDefinition {
  return {
    name,
    description: `${name}, a tool of a source`,
    inputSchema: z.looseObject({}),
    requireApproval: (input) => {
      const call = options.recorded.peek(name, input);
      return call !== undefined && (call.decision !== undefined || wasLeft(call, 'approval'));
    },
    ...(toModelOutput !== undefined && { toModelOutput }),
    execute: toReplay(name, options),
  };
}

/** @param execute executes an unrecorded call; without it such a call is drift */
function toReplay(
  name: string,
  { recorded, inputOf, drifted }: ReplayOptions,
  execute?: Execute,
): Execute {
  return async (input, context) => {
    const { toolCallId } = context;
    const proposed = await inputOf(toolCallId);
    const { result } = recorded.of(toolCallId, name, proposed) ?? {};
    if (result === undefined) {
      if (execute !== undefined) return execute(input, context);
      drifted(name, proposed);
      throw new ToolError('not_recorded', 'This call was not recorded.');
    }
    if ('output' in result) return result.output;
    throw new Error('error' in result ? result.error : 'The call was denied.');
  };
}
