import { Command } from 'commander';
import type { PersonErasureReply } from '../../protocol/replies.js';
import { sleep } from '../../protocol/time.js';
import type { Cli } from '../cli.js';
import { confirm } from '../terminal.js';
import { EXIT } from '../failure.js';
import { shownJsonText } from '../output/shown-text.js';
import { wrongUsage } from '../failure.js';
import { parseText } from '../parse-values.js';
import { workOf, yesOption, type ConsentOptions, type GlobalOptions } from './options.js';

const ID = ['[user]', 'id of the person, as in tokens'] as const;
const OWNER = ['--owner <user>', 'the same, by its name in lists', parseText] as const;
/** After this many requests in a row that erased nothing, the command gives up. */
const MOST_IDLE = 20;
const PAUSE_MS = 500;

/** `user`: data stored about a person. */
export function createUserCommands(cli: Cli): Command {
  const noun = new Command('user').description('Export and erase what is stored about a person.');
  return noun.addCommand(createExportCommand(cli)).addCommand(createDeleteCommand(cli));
}

function createExportCommand(cli: Cli): Command {
  return new Command('export')
    .description('Print conversations and audit entries of a person as JSON lines.')
    .argument(...ID)
    .option(...OWNER)
    .action(async (given: string | undefined, { owner }: OwnerOption, self: Command) => {
      const id = whoOf(given, owner);
      const { api } = workOf<GlobalOptions>(cli, self);
      for await (const line of api.lines(`${pathOf(id)}/export`)) {
        cli.terminal.print(shownJsonText(line));
      }
    });
}

function createDeleteCommand(cli: Cli): Command {
  return new Command('delete')
    .description('Stop and erase all conversations of a person, for good.')
    .argument(...ID)
    .option(...OWNER)
    .addOption(yesOption())
    .action(async (given: string | undefined, options: OwnerOption & ConsentOptions, self) => {
      const id = whoOf(given, options.owner);
      const { api, output } = workOf<GlobalOptions>(cli, self as Command);
      await confirm(cli.terminal, `Erase everything of ${id} for good?`, options);
      const sums = {
        conversations: 0,
        sessions: 0,
        workflows: 0,
        rows: 0,
        entries: 0,
        bytes: 0,
      };
      let complete = false;
      for (let idle = 0; !complete && idle < MOST_IDLE;) {
        const erased = await api.delete<PersonErasureReply>(pathOf(id));
        idle = erased.sessions > 0 ? 0 : idle + 1;
        for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += erased[name];
        complete = erased.complete;
        if (!complete && idle > 0) await sleep(PAUSE_MS);
      }
      const { conversations, rows, workflows } = sums;
      const counts = [`${String(conversations)} conversations`, `${String(rows)} rows`];
      const what = [...counts, `${String(workflows)} workflows`].join(', ');
      await output.text({ userId: id, complete, ...sums }, () =>
        complete
          ? `Erased: ${what}.`
          : `Erased so far: ${what}. Something is left; run this again later.`,
      );
      cli.exitWith(complete ? EXIT.done : EXIT.failed);
    });
}

interface OwnerOption {
  owner?: string;
}

/** Returns the person, who must be named in exactly one way. @throws CliFailure */
function whoOf(id: string | undefined, owner: string | undefined): string {
  const who = id ?? owner;
  if (who === undefined) throw wrongUsage('Name the person: an id, or --owner.');
  if (id !== undefined && owner !== undefined && id !== owner) {
    throw wrongUsage('Name one person: either an id or --owner.');
  }
  return who;
}

function pathOf(id: string): string {
  return `/api/operator/users/${encodeURIComponent(id)}`;
}
