import type { Cli } from './cli.js';
import type { ApiCommand } from './commands/api-command.js';
import { wrongUsage } from './failure.js';

export interface ExtensionCommand {
  /** Name and arguments: `answered [tool]`. */
  name: string;
  description: string;
  /** `cli.connect()` creates an API client, `cli.terminal.print` writes. */
  run: (args: readonly string[], cli: Cli) => Promise<void>;
}

export interface CliExtension {
  readonly name: string;
  commands?: readonly ExtensionCommand[];
}

/** @throws CliFailure for a command that exists */
export function addExtension(
  program: ApiCommand,
  { name: extension, commands = [] }: CliExtension,
): void {
  for (const { name, description, run } of commands) {
    const [word = ''] = name.split(' ');
    if (program.commands.some((known) => [known.name(), ...known.aliases()].includes(word)))
      throw wrongUsage(`EXTENSIONS: "${extension}" has a command "${word}", which exists already.`);
    const command = program.command(name).description(description);
    command.action(() => run(command.args, program.cli));
  }
}
