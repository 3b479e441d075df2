import { toStoredJson } from '../record/to-stored-json.js';

/** Arguments that stand before the content: transition, session, settings, request. */
const FIXED = 4;

/**
 * What people, models and tools wrote, as arguments of a transition: the request names them by
 * number, so that no script decodes them.
 */
export interface Contents {
  /** Adds a text; returns the number under which the transition finds it. */
  add: (text: string) => number;
  /** Adds a value as JSON; `around`: see toStoredJson. */
  addJson: (value: unknown, around?: number) => number;
  /** The same for one that may be absent. */
  addOptional: (value: unknown, around?: number) => number | undefined;
  /** Adds several texts; returns the number of the first one. */
  addAll: (texts: readonly string[]) => number;
  texts: string[];
}

export function createContents(): Contents {
  const texts: string[] = [];
  const add = (text: string): number => FIXED + texts.push(text) - 1;
  const addJson = (value: unknown, around = 0): number => add(toStoredJson(value, { around }));
  return {
    add,
    addJson,
    addOptional: (value, around) => (value === undefined ? undefined : addJson(value, around)),
    addAll: (all) => {
      const first = FIXED + texts.length;
      texts.push(...all);
      return first;
    },
    texts,
  };
}
