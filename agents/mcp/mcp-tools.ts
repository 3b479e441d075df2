import type { AgentDefinition } from '../definitions.js';
import type { McpConnections } from './mcp-connections.js';
import { McpError } from './mcp-error.js';
import type { McpServers } from './mcp-servers.js';
import type { McpLogger } from './mcp-transport.js';
import { toPinnedTools, withinBounds, type PinnedTool } from './pinned-tools.js';
import { toToolDefinition } from './to-tool-definition.js';

type WithServers = AgentDefinition & { readonly mcpServers: McpServers };

export function hasServers(agent: AgentDefinition): agent is WithServers {
  return agent.mcpServers !== undefined && Object.keys(agent.mcpServers).length > 0;
}

/**
 * What the servers of an agent offer now, in the order in which it names them. Those that are
 * `optional` may be away.
 *
 * @throws McpError; what the signal gives
 */
export async function listMcpTools(
  agent: WithServers,
  connections: McpConnections,
  logger: McpLogger,
  signal: AbortSignal,
): Promise<PinnedTool[]> {
  const servers = Object.entries(agent.mcpServers);
  const taken = new Set(agent.tools.map(({ name }) => name));
  const lists = await Promise.all(
    servers.map(async ([name, server]) => {
      try {
        const listed = await connections.to(name, server).listTools(signal);
        return toPinnedTools(name, server, listed, taken, logger);
      } catch (error) {
        signal.throwIfAborted();
        if (server.optional !== true || !(error instanceof McpError)) throw error;
        logger.warn({ server: name, code: error.code }, 'a run begins without these tools');
        return [];
      }
    }),
  );
  return withinBounds(lists.flat(), logger);
}

/** The agent with the tools that its run keeps. */
export function withMcpTools(
  agent: WithServers,
  pinned: readonly PinnedTool[],
  connections: McpConnections,
): AgentDefinition {
  const own = new Set(agent.tools.map(({ name }) => name));
  const tools = pinned
    .filter(({ name }) => !own.has(name))
    .flatMap((each) => {
      // A release may have left the server out since.
      const server = new Map(Object.entries(agent.mcpServers)).get(each.server);
      return (server && toToolDefinition(each, server, connections)) ?? [];
    });
  return Object.freeze({ ...agent, tools: Object.freeze([...agent.tools, ...tools]) });
}
