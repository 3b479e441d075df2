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
  /** Tools that are executed for real where a call was not recorded. */
  live: ReadonlySet<string>;
  /** In place of the agent's own model. */
  model?: LlmConfig['model'] | undefined;
  /** The input of a call as the model gave it; a tool gets what its schema made of it. */
  inputOf: (toolCallId: string) => Promise<unknown>;
  /** A call that was not recorded. */
  drifted: (tool: string, input: unknown) => void;
}

/**
 * The agent with its prompt and its schemas, and with tools that give what was recorded. It has no
 * sources of tools, which would execute calls, and no `onStepFinish` and `onFinish`, which tell others.
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
  // Results were checked when they were recorded, and settings of activities mean nothing here.
  const { outputSchema, subAgent, verify, retry, activity, timeoutMs, idempotent, send, ...rest } =
    tool;
  const isLive = options.live.has(name) && typeof execute === 'function';
  return { ...rest, execute: toReplay(name, options, isLive ? execute : undefined) };
}

/** A tool that a source offered then: a recording knows its calls, and nothing else of it. */
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

/** @param execute for a call that was not recorded; without it, such a call is drift */
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
