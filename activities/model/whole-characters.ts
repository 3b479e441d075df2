/**
 * Deltas as whole characters: a provider may cut a text between the two halves of one. The first
 * half waits for the block's next delta, so that each chunk can be stored as it is.
 */
export interface WholeCharacters {
  /** The text of a block that is complete with its next delta; '' if nothing is complete yet. */
  extend: (block: string, delta: string) => string;
  /** What is left of a block that is over: half a character that stays alone is U+FFFD. */
  end: (block: string) => string;
  /** Blocks of which something waits. */
  waiting: () => string[];
}

export function createWholeCharacters(): WholeCharacters {
  const halves = new Map<string, string>();
  return {
    extend: (block, delta) => {
      const text = (halves.get(block) ?? '') + delta;
      const last = text.charCodeAt(text.length - 1);
      const isCut = last >= 0xd800 && last <= 0xdbff;
      if (isCut) halves.set(block, text.slice(-1));
      else halves.delete(block);
      return (isCut ? text.slice(0, -1) : text).toWellFormed();
    },
    end: (block) => (halves.delete(block) ? '\ufffd' : ''),
    waiting: () => [...halves.keys()],
  };
}

/** The beginning of a text, at most so long, as whole characters. */
export function startOf(text: string, length: number): string {
  const whole = text.toWellFormed();
  const last = whole.charCodeAt(length - 1);
  const isCut = whole.length > length && last >= 0xd800 && last <= 0xdbff;
  return whole.slice(0, isCut ? length - 1 : length);
}
