import { Command } from 'commander';
import { orMissing } from '../../protocol/optional-package.js';
import type { Cli } from '../cli.js';
import type { GlobalOptions } from './options.js';

interface McpOptions extends GlobalOptions {
  allowWrites?: boolean;
}

const PACKAGE = '@modelcontextprotocol/sdk';

/** `mcp`: the API as tools for coding agents. */
export function createMcpCommand(cli: Cli): Command {
  return new Command('mcp')
    .summary('serve the API to an MCP client')
    .description(
      'Serves the API as MCP tools on stdin and stdout, as the person of HELIX_TOKEN. The tools only\n' +
        `read, unless writes are allowed. It needs the package ${PACKAGE}.`,
    )
    .option('--allow-writes', 'also approve, deny, extend, stop, resume and repeat')
    .action(async (_, self: Command) => {
      const { allowWrites = false, ...options } = self.optsWithGlobals<McpOptions>();
      const { serveMcp } = await import('../mcp/serve.js').catch(orMissing('mcp', PACKAGE));
      const version = self.parent?.version() ?? '';
      await serveMcp({ api: cli.connect({ ...options, via: 'mcp' }), allowWrites, version });
    });
}
