import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { ApiClient } from '../api/client.js';
import { callTool, toolsFor } from './tools.js';

export interface ServeOptions {
  api: ApiClient;
  allowWrites: boolean;
  version: string;
}

/** Serves the API to an MCP client on stdin and stdout; resolves when the client disconnects. */
export async function serveMcp({ api, allowWrites, version }: ServeOptions): Promise<void> {
  const server = new McpServer({ name: 'helix-temporal', version });
  for (const tool of toolsFor({ allowWrites })) {
    const { name, description, input, isWrite } = tool;
    const annotations = { readOnlyHint: !isWrite, destructiveHint: isWrite, openWorldHint: false };
    const config = { description, inputSchema: input, annotations };
    server.registerTool(name, config, (given: unknown) => callTool(api, tool, given));
  }
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    // The transport does not notice that its client has disconnected.
    process.stdin.once('end', resolve);
  });
  await server.connect(transport);
  await closed;
}
