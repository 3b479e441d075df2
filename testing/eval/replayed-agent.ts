import {
  ToolError,
  type AgentDefinition,
  type LlmConfig,
  type ToolDefinition,
} from '../../agents/index.js';
import type { RecordedCalls } from './recorded-calls.js';

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

/** The agent with its prompt and its schemas, and with tools that give what was recorded. */
export function toReplayedAgent(agent: AgentDefinition, options: ReplayOptions): AgentDefinition {
  const { model = agent.llmConfig.model } = options;
  return Object.freeze({
    ...agent,
    tools: agent.tools.map((tool) => toReplayedTool(tool, options)),
    llmConfig: { ...agent.llmConfig, model },
  });
}

function toReplayedTool(
  tool: ToolDefinition,
  { recorded, live, inputOf, drifted }: ReplayOptions,
): ToolDefinition {
  const { execute, name } = tool;
  if (execute === 'client') return tool;
  // Results were checked when they were recorded, and settings of activities mean nothing here.
  const { outputSchema, subAgent, retry, activity, timeoutMs, idempotent, ...rest } = tool;
  return {
    ...rest,
    execute: async (input, context) => {
      const proposed = await inputOf(context.toolCallId);
      const { result } = recorded.take(name, proposed) ?? {};
      if (result === undefined) {
        if (live.has(name) && typeof execute === 'function') return execute(input, context);
        drifted(name, proposed);
        throw new ToolError('not_recorded', 'This call was not recorded.');
      }
      if ('output' in result) return result.output;
      throw new Error('error' in result ? result.error : 'The call was denied.');
    },
  };
}
