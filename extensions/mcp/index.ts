import { assertSettings, type ToolHost, type ToolSource } from '../../agents/index.js';
import { connectionsOf } from './connection.js';
import { McpError } from './errors.js';
import { PinnedTools, toPinnedTools, withinBounds, type PinnedTool } from './pinned-tools.js';
import { ServersByName, type McpServers } from './servers.js';
import { toMcpModelOutput, toTool } from './tool.js';

export type {
  HttpMcpServer,
  McpAuthProvider,
  McpHeaders,
  McpServer,
  McpServers,
  StdioMcpServer,
} from './servers.js';

/**
 * Creates the source of tools that `defineAgent({ mcpServers })` adds, for `fromAgent`. Needs the package
 * `@modelcontextprotocol/sdk`.
 *
 * @example
 * import { openai } from '@ai-sdk/openai';
 * import { ToolLoopAgent } from 'ai';
 * import { fromAgent } from 'helix-temporal';
 * import { mcpServers } from 'helix-temporal/mcp';
 *
 * export const librarian = fromAgent(new ToolLoopAgent({ model: openai('gpt-5') }), {
 *   name: 'librarian',
 *   toolSources: [mcpServers({ docs: { url: 'https://docs.example/mcp' } })],
 * });
 *
 * @throws DefinitionError that names each wrong setting
 */
export function mcpServers(servers: McpServers): ToolSource {
  assertSettings(ServersByName, servers, { call: 'mcpServers' });
  const named = new Map(Object.entries(servers));
  return Object.freeze({
    name: 'mcp',
    list: (taken, host, signal) => listTools(servers, taken, host, signal),
    toTools: (listed, host) => {
      const connections = connectionsOf(host);
      return PinnedTools.parse(listed).flatMap((each) => {
        // A newer release of the agent may no longer name the server.
        const server = named.get(each.server);
        return (server && toTool(each, server, connections)) ?? [];
      });
    },
    owns: (tool) => [...named.keys()].some((server) => tool.startsWith(`${server}_`)),
    toModelOutput: toMcpModelOutput,
  } satisfies ToolSource);
}

/** Lists the tools of all servers, in the order of the servers. An `optional` server may be unreachable. */
async function listTools(
  servers: McpServers,
  taken: ReadonlySet<string>,
  host: ToolHost,
  signal: AbortSignal,
): Promise<PinnedTool[]> {
  const { logger } = host;
  const lists = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      try {
        const listed = await connectionsOf(host).to(name, server).listTools(signal);
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
