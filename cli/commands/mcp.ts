import { orMissing } from '../../protocol/errors.js';
import type { ApiCommand, Work } from './api-command.js';

const PACKAGE = '@modelcontextprotocol/sdk';

/** `mcp`: the API as tools for coding agents. */
export function addMcpCommand(program: ApiCommand): void {
  program
    .command('mcp')
    .summary('serve the API to an MCP client')
    .description(
      'Serves the API as MCP tools on stdin and stdout, as the person of HELIX_TOKEN. The tools only\n' +
        `read, unless writes are allowed. It needs the package ${PACKAGE}.`,
    )
    .option('--allow-writes', 'also approve, deny, extend, stop, resume and repeat')
    .act(async ({ options }: Work<{ allowWrites?: boolean }>) => {
      const { serveMcp } = await import('../mcp/serve.js').catch(orMissing('mcp', PACKAGE));
      const { allowWrites = false } = options;
      const version = program.version() ?? '';
      await serveMcp({
        api: program.cli.connect({ ...options, via: 'mcp' }),
        allowWrites,
        version,
      });
    });
}
