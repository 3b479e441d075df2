import { Command, Option } from 'commander';
import type { Cli } from './cli.js';
import { createAgentCommands } from './commands/agent.js';
import { createApprovalCommands } from './commands/approval/index.js';
import { createAuditCommands } from './commands/audit.js';
import { createDoctorCommand } from './commands/doctor.js';
import { createEvalCommands } from './commands/eval.js';
import { createMcpCommand } from './commands/mcp.js';
import { createRunCommands } from './commands/run/index.js';
import { createSessionCommands } from './commands/session/index.js';
import { createUsageCommands } from './commands/usage.js';
import { createUserCommands } from './commands/user.js';
import { createWebhookCommands } from './commands/webhook.js';
import { toCommands, type CliExtension } from './extension.js';
import {
  createApiCommand,
  createDevCommand,
  createInitCommand,
  createWorkerCommand,
} from './local/commands.js';
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
): Command {
  const program = new Command('helix-temporal')
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
      writeOut: (text) => {
        cli.terminal.print(text.replace(/\n$/, ''));
      },
      writeErr: (text) => {
        cli.terminal.note(text.replace(/\n$/, ''));
      },
    })
    .exitOverride();
  const nouns = [
    createRunCommands(cli),
    createApprovalCommands(cli),
    createSessionCommands(cli),
    createUserCommands(cli),
    createWebhookCommands(cli),
    createAgentCommands(cli),
    createAuditCommands(cli),
    createUsageCommands(cli),
    createEvalCommands(cli),
    createDoctorCommand(cli),
    createMcpCommand(cli),
    createInitCommand(cli),
    createDevCommand(cli),
    createApiCommand(cli),
    createWorkerCommand(cli),
    ...toCommands(cli, extensions),
  ];
  for (const noun of nouns) program.addCommand(noun);
  adopt(program);
  return program;
}

/** Copies the settings that `command()` would have inherited from the program. */
function adopt(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    adopt(command);
  }
}
