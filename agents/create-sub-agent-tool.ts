import type { z } from 'zod';
import { assertSettings } from './definition-error.js';
import type { AgentDefinition, ToolDefinition } from './definitions.js';
import { Callback, InputSchema, must, Name, settings, Text } from './fields.js';
import { isAgent, SubAgentTool } from './tool-config.js';
import type { ResultOf, TypedTool } from './tool-types.js';

/** Prefix of a sub-agent tool's default name; the agent's name follows. */
export const SUBAGENT_TOOL_PREFIX = 'subagent__';

/** A tool whose calls another agent executes. */
export interface SubAgentToolConfig<
  Input extends z.ZodType,
  Agent extends AgentDefinition = AgentDefinition,
  Name extends string = string,
> {
  /**
   * Executes the call in its own session. The result is the agent's output if it has an
   * `outputSchema`, else the text of its last step.
   */
  agent: Agent;
  /** Tool name for the model. Default: `subagent__` and the agent's name. */
  name?: Name;
  /** Name shown to people. Default: the agent's `page.title`, or its name. */
  title?: string;
  /** Explains to the model when and how to delegate. Default: the agent's own description. */
  description?: string;
  /** Must describe an object. */
  inputSchema: Input;
  /** Creates the sub-agent's user message. Default: the input as JSON. */
  toMessage?: (input: z.output<Input>) => string;
}

/** Schema of the input of `createSubAgentTool`. */
const SubAgentToolConfig = settings({
  agent: must('what defineAgent() returned', isAgent),
  name: Name.optional(),
  title: Text.optional(),
  description: Text.optional(),
  inputSchema: InputSchema,
  toMessage: Callback.optional(),
});

/**
 * Declares a tool whose calls start a run of another agent. Pure data: nothing runs.
 *
 * @example
 * import { createSubAgentTool, defineAgent } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const model = 'openai/gpt-5';
 * const researcher = defineAgent({
 *   name: 'researcher',
 *   description: 'Looks facts up and names its sources.',
 *   systemPrompt: 'You research one question.',
 *   llmConfig: { model },
 * });
 *
 * export const writer = defineAgent({
 *   name: 'writer',
 *   systemPrompt: 'You write articles. Delegate every question of fact.',
 *   tools: [
 *     createSubAgentTool({
 *       agent: researcher,
 *       inputSchema: z.object({ question: z.string() }),
 *       toMessage: ({ question }) => question,
 *     }),
 *   ],
 *   llmConfig: { model },
 * });
 *
 * @throws DefinitionError that names the agent, the tool and each wrong field
 */
export function createSubAgentTool<
  Input extends z.ZodType,
  Agent extends AgentDefinition = AgentDefinition,
  const Name extends string = `${typeof SUBAGENT_TOOL_PREFIX}${Agent['name']}`,
>(
  config: SubAgentToolConfig<Input, Agent, Name>,
): TypedTool<NoInfer<Name>, z.input<Input>, ResultOf<Agent>, Agent> {
  const { agent, inputSchema, toMessage = JSON.stringify } = config;
  // Checked at run time too: a definition may come from plain JavaScript.
  const agentName = (agent as AgentDefinition | undefined)?.name;
  const name = config.name ?? (agentName && `${SUBAGENT_TOOL_PREFIX}${agentName}`);
  const subject = { agent: agentName, tool: name };
  assertSettings(SubAgentToolConfig, config, subject);
  const tool = {
    name,
    ...(config.title !== undefined && { title: config.title }),
    description: config.description ?? agent.description,
    inputSchema,
    execute: 'agent',
    // Sound as in defineTool: the input is a result of `inputSchema`.
    subAgent: Object.freeze({ agent, toMessage: toMessage as (input: unknown) => string }),
  };
  assertSettings(SubAgentTool, tool, subject);
  return Object.freeze(tool as TypedTool<Name, z.input<Input>, ResultOf<Agent>, Agent>);
}

/** Returns true for tools that `createSubAgentTool` made. */
export function isSubAgentTool(
  tool: ToolDefinition,
): tool is ToolDefinition & Required<Pick<ToolDefinition, 'subAgent'>> {
  return tool.subAgent !== undefined;
}
