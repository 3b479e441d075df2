import { parseArgs } from 'node:util';

export interface Options {
  /** Few samples: shows that everything works, not how fast it is. */
  isQuick: boolean;
  /** Names of the measurements to take. */
  only: readonly string[];
}

/** @throws Error in one line that says what there is to choose from */
export function readOptions(args: readonly string[], names: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const only = values.only.flatMap((name) => name.split(','));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`There is no measurement "${unknown}". There are: ${names.join(', ')}.`);
  }
  return { isQuick: values.quick, only: only.length > 0 ? only : names };
}
