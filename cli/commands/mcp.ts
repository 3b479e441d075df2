import { Command } from 'commander';
import type { Cli } from '../cli.js';
import { EXIT } from '../failure.js';
import { CliFailure } from '../failure.js';
import type * as Serve from '../mcp/serve.js';
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
      const { serveMcp } = await loadServer();
      const version = self.parent?.version() ?? '';
      await serveMcp({ api: cli.connect({ ...options, via: 'mcp' }), allowWrites, version });
    });
}

async function loadServer(): Promise<Pick<typeof Serve, 'serveMcp'>> {
  try {
    return await import('../mcp/serve.js');
  } catch (error) {
    const isMissing = error instanceof Error && error.message.includes(`'${PACKAGE}'`);
    if (!isMissing) throw error;
    const message = `mcp needs a package that is not installed: npm install ${PACKAGE}`;
    throw new CliFailure(message, EXIT.failed);
  }
}
