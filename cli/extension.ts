import type { Cli } from './cli.js';
import type { ApiCommand } from './commands/api-command.js';

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

export function addExtension(program: ApiCommand, { commands = [] }: CliExtension): void {
  for (const { name, description, run } of commands) {
    const command = program.command(name).description(description);
    command.action(() => run(command.args, program.cli));
  }
}
