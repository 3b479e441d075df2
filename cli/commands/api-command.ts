import { Command } from 'commander';
import type { ApiClient } from '../api/client.js';
import type { Cli, ConnectOptions } from '../cli.js';
import { createOutput, type Output, type OutputOptions } from '../output/output.js';
import { parseCount, parseText } from '../parse-values.js';

interface GlobalOptions extends OutputOptions, ConnectOptions {}

export interface ListOptions {
  limit: number;
}

export interface ReasonOption {
  reason?: string;
}

export interface ConsentOptions {
  yes?: boolean;
}

export const LIMIT = ['--limit <n>', 'most items', parseCount, 50] as const;
export const REASON = ['--reason <text>', 'why, for the record', parseText] as const;
export const YES = ['-y, --yes', 'do not ask'] as const;

/** A command's options with the client and output made from them. */
export interface Work<O = object> {
  cli: Cli;
  options: O & GlobalOptions;
  api: ApiClient;
  output: Output;
}

/** A command whose action works with the API. */
export class ApiCommand extends Command {
  readonly cli: Cli;

  constructor(cli: Cli, name?: string) {
    super(name);
    this.cli = cli;
  }

  override createCommand(name?: string): ApiCommand {
    return new ApiCommand(this.cli, name);
  }

  /** Sets the action, which gets the arguments of the command. */
  act<O extends object, Args extends unknown[]>(
    act: (work: Work<O>, ...args: Args) => Promise<void>,
  ): this {
    return this.action(async () => {
      const { cli } = this;
      const options = this.optsWithGlobals<O & GlobalOptions>();
      const work: Work<O> = {
        cli,
        options,
        // A command that asks no server must not fail because of its address.
        get api() {
          return cli.connect(options);
        },
        output: createOutput(cli, options),
      };
      await act(work, ...(this.processedArgs as Args));
    });
  }
}

/** Notes that a list has more items than were printed. */
export function noteMore({ cli, options }: Work<ListOptions>): () => void {
  return () =>
    cli.terminal.note(`These are the first ${String(options.limit)}; --limit shows more.`);
}
