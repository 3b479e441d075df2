import { toStoredJson } from '../record/to-stored-json.js';

/** Number of arguments before the content: transition, session, settings, request. */
const FIXED = 4;

/**
 * User, model and tool content, passed as arguments of a transition. The request refers to it by
 * argument number, so no script decodes it.
 */
export interface Contents {
  /** Adds a text and returns its argument number. */
  add: (text: string) => number;
  /** Adds a value as JSON; `around`: see toStoredJson. */
  addJson: (value: unknown, around?: number) => number;
  /** As addJson, for a value that may be absent. */
  addOptional: (value: unknown, around?: number) => number | undefined;
  /** Adds several texts and returns the argument number of the first. */
  addAll: (texts: readonly string[]) => number;
  /** The text of an argument number. */
  textAt: (at: number) => string;
}

export function createContents(): Contents {
  const texts: string[] = [];
  const add = (text: string): number => FIXED + texts.push(text.toWellFormed()) - 1;
  const addJson = (value: unknown, around = 0): number => add(toStoredJson(value, { around }));
  return {
    add,
    addJson,
    addOptional: (value, around) => (value === undefined ? undefined : addJson(value, around)),
    addAll: (all) => {
      const first = FIXED + texts.length;
      texts.push(...all.map((text) => text.toWellFormed()));
      return first;
    },
    textAt: (at) => texts[at - FIXED] ?? '',
  };
}
