import { Command } from 'commander';
import type { Cli } from './cli.js';

export interface ExtensionCommand {
  /** Name and arguments: `answered [tool]`. */
  name: string;
  description: string;
  /** `cli.connect()` creates an API client, `cli.terminal.print` writes. */
  run: (args: readonly string[], cli: Cli) => Promise<void>;
}

/** An extension's additions to the command line. */
export interface CliExtension {
  readonly name: string;
  commands?: readonly ExtensionCommand[];
}

export function toCommands(cli: Cli, extensions: readonly CliExtension[]): Command[] {
  return extensions.flatMap(({ commands = [] }) =>
    commands.map(({ name, description, run }) => {
      const [first = '', ...args] = name.split(' ');
      const command = new Command(first).description(description);
      for (const each of args) command.argument(each);
      return command.action(() => run(command.args, cli));
    }),
  );
}
