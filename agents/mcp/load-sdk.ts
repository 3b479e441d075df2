import type * as ClientModule from '@modelcontextprotocol/sdk/client/index.js';
import type * as StdioModule from '@modelcontextprotocol/sdk/client/stdio.js';
import type * as HttpModule from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from './mcp-error.js';

const PACKAGE = '@modelcontextprotocol/sdk';

export type McpSdk = Pick<typeof ClientModule, 'Client'> &
  Pick<typeof StdioModule, 'StdioClientTransport'> &
  Pick<typeof HttpModule, 'StreamableHTTPClientTransport'>;

/** The SDK, an optional package. @throws McpError `mcp_unavailable` if it is not installed */
export async function loadSdk(): Promise<McpSdk> {
  try {
    const [client, stdio, http] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ]);
    return {
      Client: client.Client,
      StdioClientTransport: stdio.StdioClientTransport,
      StreamableHTTPClientTransport: http.StreamableHTTPClientTransport,
    };
  } catch (error) {
    const isMissing = error instanceof Error && error.message.includes(PACKAGE);
    if (!isMissing) throw error;
    const text = `mcpServers needs a package that is not installed: npm install ${PACKAGE}`;
    throw new McpError('mcp_unavailable', text, error);
  }
}
