import { parseArgs } from 'node:util';
import { UsageError } from './project.mjs';

/**
 * Parses the options of a command. `--help` prints the usage and ends the process.
 *
 * @param command as a person types it
 * @param table each option's `says`; `takes` names its value, which is a number from `least` (a whole one if
 *   `least` is) or names out of `choices`, separated by commas, which are returned once each in the order of
 *   `choices`; without `takes` it is a switch; `multiple` returns all values of a repeated option
 * @throws UsageError with a line about the fault, and the usage
 */
export function readOptions(command, table, args) {
  const usage = toUsage(command, table);
  const refuse = (fault) => new UsageError(`${fault}\n\n${usage}`);
  const options = Object.entries({ ...table, help: {} }).map(
    ([name, { takes, choices, multiple = choices !== undefined }]) => [
      name,
      { type: takes ? 'string' : 'boolean', multiple },
    ],
  );
  let values;
  try {
    ({ values } = parseArgs({ args, options: Object.fromEntries(options) }));
  } catch (error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    throw refuse(error.message.replace(/\. .*/s, '.'));
  }
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    process.exit();
  }
  return Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      toValue(name, option, values[name], refuse),
    ]),
  );
}

function toValue(name, { takes, least, choices, default: otherwise }, given, refuse) {
  if (choices === undefined) {
    if (given === undefined) return takes ? otherwise : false;
    if (least === undefined) return given;
    const number = Number(given);
    const isWhole = Number.isInteger(least);
    if (number >= least && (!isWhole || Number.isInteger(number))) return number;
    throw refuse(`--${name} takes a ${isWhole ? 'whole ' : ''}number from ${least}: ${given}`);
  }
  const names = (given ?? [otherwise]).flatMap((text) => text?.split(',') ?? []);
  const unknown = names.find((each) => each !== 'all' && !choices.includes(each));
  if (unknown === undefined)
    return names.includes('all') ? choices : choices.filter((each) => names.includes(each));
  throw refuse(`--${name} takes all, or some of ${choices.join(', ')}: ${unknown}`);
}

function toUsage(command, table) {
  const lines = Object.entries(table).map(
    ([name, { takes, says, choices, default: otherwise }]) => {
      const option = `--${name}${takes ? ` <${takes}>` : ''}`;
      const more = [choices?.join(', '), otherwise !== undefined && `default: ${otherwise}`];
      return `  ${option.padEnd(20)} ${[says, ...more].filter(Boolean).join('; ')}`;
    },
  );
  return [`Usage: ${command} -- [options]`, ...lines].join('\n');
}

/** The faults that a soak and a rehearsal find; bench/soak/verdict.ts counts them. */
export const PLANTED = {
  takes: 'faults',
  choices: ['lost', 'doubled', 'stuck', 'twice', 'leaked'],
  says: 'put such faults into the record, to see them found',
};
