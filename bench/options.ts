import { parseArgs } from 'node:util';

export interface Options {
  /** Few samples: shows that everything works, not how fast it is. */
  isQuick: boolean;
  /** Names of the measurements to take. */
  only: readonly string[];
  /** How many runs wait at once in the measurement of memory. */
  waiting: number;
}

const WAITING = 1_000;

/** @throws Error in one line that says what there is to choose from */
export function readOptions(args: readonly string[], names: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      waiting: { type: 'string', default: String(WAITING) },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const only = values.only.flatMap((name) => name.split(','));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`There is no measurement "${unknown}". There are: ${names.join(', ')}.`);
  }
  const waiting = Number(values.waiting);
  if (!Number.isInteger(waiting) || waiting < 1)
    throw new Error('--waiting must be a number from 1.');
  return { isQuick: values.quick, waiting, only: only.length > 0 ? only : names };
}
