import { Option } from 'commander';
import type { Cli } from './cli.js';
import { addAgentCommands } from './commands/agent.js';
import { ApiCommand } from './commands/api-command.js';
import { addApprovalCommands } from './commands/approval/index.js';
import { addAuditCommands } from './commands/audit.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEvalCommands } from './commands/eval.js';
import { addLocalCommands } from './commands/local.js';
import { addMcpCommand } from './commands/mcp.js';
import { addRunCommands } from './commands/run/index.js';
import { addSessionCommands } from './commands/session.js';
import { addUsageCommands } from './commands/usage.js';
import { addUserCommands } from './commands/user.js';
import { addWebhookCommands } from './commands/webhook.js';
import { addExtension, type CliExtension } from './extension.js';
import { OUTPUT_FORMATS } from './output/output.js';
import { TIME_FORMATS } from './output/shown-text.js';
import { parseNames, parseText, parseUrl } from './parse-values.js';

const EXIT_CODES = `
Exit codes:
  0 done, or the run completed     1 the run failed, or the server refused
  2 the run waits for people       3 the run was stopped
  64 wrong usage                   69 the server is away
  77 not signed in or not allowed  124 timeout    130 Ctrl-C

Environment:
  HELIX_URL    address of the API (default: http://127.0.0.1:3000)
  HELIX_TOKEN  token of your identity provider, where the API has accounts
  NO_COLOR     no colours`;

/** Creates the `helix-temporal` command line: a noun, then a verb. */
export function createProgram(
  cli: Cli,
  { version, extensions = [] }: { version: string; extensions?: readonly CliExtension[] },
): ApiCommand {
  const program = new ApiCommand(cli, 'helix-temporal')
    .description('Run AI agents; see, answer and stop their runs.')
    .version(version)
    .addOption(
      new Option('-o, --output <format>', 'how results are printed')
        .choices(OUTPUT_FORMATS)
        .default('table'),
    )
    .option('--json <fields>', 'print these fields as JSON, separated by commas', parseNames)
    .addOption(
      new Option('--time-format <format>', 'times in tables')
        .choices(TIME_FORMATS)
        .default('relative'),
    )
    .option('--url <url>', 'address of the API; default: HELIX_URL', parseUrl)
    .option('--tenant <tenant>', 'act on this tenant, if your token may choose', parseText)
    .option(
      '--idempotency-key <key>',
      'repeat an act of this key without doing it twice',
      parseText,
    )
    .addHelpText('after', EXIT_CODES)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => cli.terminal.print(text.replace(/\n$/, '')),
      writeErr: (text) => cli.terminal.note(text.replace(/\n$/, '')),
    })
    .exitOverride();
  addRunCommands(program);
  addApprovalCommands(program);
  addSessionCommands(program);
  addUserCommands(program);
  addWebhookCommands(program);
  addAgentCommands(program);
  addAuditCommands(program);
  addUsageCommands(program);
  addEvalCommands(program);
  addDoctorCommand(program);
  addMcpCommand(program);
  addLocalCommands(program);
  for (const extension of extensions) addExtension(program, extension);
  return program;
}
