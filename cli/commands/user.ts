import type { PersonErasureReply } from '../../protocol/replies.js';
import { sleep } from '../../protocol/time.js';
import { EXIT, wrongUsage } from '../failure.js';
import { shownJsonText } from '../output/shown-text.js';
import { parseText } from '../parse-values.js';
import { confirm } from '../terminal.js';
import { YES, type ConsentOptions, type Work, type ApiCommand } from './api-command.js';

const ID = ['[user]', 'id of the person, as in tokens'] as const;
const OWNER = ['--owner <user>', 'the same, by its name in lists', parseText] as const;
/** After this many requests in a row that erased nothing, the command gives up. */
const MAX_IDLE = 20;
const PAUSE_MS = 1_000;

interface OwnerOption {
  owner?: string;
}

/** `user`: data stored about a person. */
export function addUserCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program
    .command('user')
    .description('Export and erase what is stored about a person.');
  noun
    .command('export')
    .description('Print conversations and audit entries of a person as JSON lines.')
    .argument(...ID)
    .option(...OWNER)
    .act(async ({ options, api }: Work<OwnerOption>, given: string | undefined) => {
      const path = `${pathOf(whoOf(given, options.owner))}/export`;
      for await (const line of api.lines(path)) cli.terminal.print(shownJsonText(line));
    });
  noun
    .command('delete')
    .description('Stop and erase all conversations of a person, for good.')
    .argument(...ID)
    .option(...OWNER)
    .option(...YES)
    .act(async (work: Work<OwnerOption & ConsentOptions>, given: string | undefined) => {
      const id = whoOf(given, work.options.owner);
      await confirm(cli.terminal, `Erase everything of ${id} for good?`, work.options);
      const { complete, ...sums } = await erase(work, id);
      const { conversations, rows, workflows } = sums;
      const what = `${String(conversations)} conversations, ${String(rows)} rows, ${String(workflows)} workflows`;
      await work.output.text({ userId: id, complete, ...sums }, () =>
        complete
          ? `Erased: ${what}.`
          : `Erased so far: ${what}. Something is left; run this again later.`,
      );
      cli.exitWith(complete ? EXIT.done : EXIT.failed);
    });
}

/** Erases by as many requests as it takes, and sums up their receipts. */
async function erase({ api }: Pick<Work, 'api'>, id: string): Promise<PersonErasureReply> {
  const sums = { conversations: 0, sessions: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
  for (let idle = 0; idle < MAX_IDLE;) {
    const erased = await api.delete<PersonErasureReply>(pathOf(id));
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += erased[name];
    if (erased.complete) return { ...sums, complete: true };
    idle = erased.sessions > 0 ? 0 : idle + 1;
    if (idle > 0) await sleep(PAUSE_MS);
  }
  return { ...sums, complete: false };
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
