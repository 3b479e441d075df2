/** `defineAgent` of the entry `helix-temporal`, with the tools of MCP servers. */
import type { z } from 'zod';
import {
  assertSettings,
  defineAgent as define,
  type AgentConfig as OwnConfig,
  type AgentTools,
  type ToolSource,
  type TypedAgent,
} from '../agents/index.js';
import { mcpServers } from './mcp/index.js';
import { McpField, type McpServers } from './mcp/servers.js';

/** An agent as its author writes it; the system prompt is typed from the state schema. */
export interface AgentConfig<
  State extends z.ZodType,
  Output extends z.ZodType,
  Tools extends AgentTools = AgentTools,
  Name extends string = string,
> extends OwnConfig<State, Output, Tools, Name> {
  /**
   * MCP servers whose tools the agent gets, by name: `{ docs: { url: 'https://docs.example/mcp' } }`.
   * Needs the package `@modelcontextprotocol/sdk`.
   */
  mcpServers?: McpServers | undefined;
}

/**
 * Declares an agent. Pure data: nothing runs, no model is created, no server is contacted.
 *
 * @example
 * import { openai } from '@ai-sdk/openai';
 * import { defineAgent, defineTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The weather in a city.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 *
 * export const guide = defineAgent({
 *   name: 'guide',
 *   systemPrompt: 'You plan day trips.',
 *   tools: [weather],
 *   mcpServers: { maps: { url: 'https://maps.example/mcp' } },
 *   llmConfig: { model: openai('gpt-5') },
 * });
 *
 * @throws DefinitionError that names the agent, each wrong field, and the tool that has it
 */
export function defineAgent<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const Tools extends AgentTools = AgentTools,
  const Name extends string = string,
>(config: AgentConfig<State, Output, Tools, Name>): TypedAgent<Tools, z.output<Output>, Name> {
  const { mcpServers: servers, ...own } = config;
  if (servers === undefined) return define(own as typeof config);
  assertSettings(McpField, { mcpServers: servers }, { agent: config.name });
  // `concat` also takes a value that is no list, which `define` refuses with the other fields.
  const toolSources = ([mcpServers(servers)] as ToolSource[]).concat(own.toolSources ?? []);
  return define({ ...(own as typeof config), toolSources });
}
