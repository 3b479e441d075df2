import { Command } from 'commander';
import type { Cli } from './cli.js';

/** A command that an extension adds. */
export interface ExtensionCommand {
  /** With its arguments: `answered [tool]`. */
  name: string;
  description: string;
  /** `cli.connect()` is a client of the API, `cli.terminal.print` writes. */
  run: (args: readonly string[], cli: Cli) => Promise<void>;
}

/** What an extension adds to the command line. */
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
