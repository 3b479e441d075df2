import { createReply, cutWords, type Reply } from '../../agents/index.js';

/** A pace at which one can read along, in ms a word. */
const WORD_MS = 25;

/** A call that is to be made. */
export interface Named {
  readonly tool: string;
  readonly args: object;
}

/** Words at a reader's pace. */
export function say(text: string): Reply {
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}

/** Words, then one call. */
export function call(text: string, tool: string, args: object): Reply {
  return callAll(text, [{ tool, args }]);
}

/** Words, then calls that are made at once. */
export function callAll(text: string, calls: readonly Named[]): Reply {
  return {
    ...say(text),
    calls: calls.map(({ tool, args }) => {
      const input = JSON.stringify(args);
      return { tool, id: `call-${crypto.randomUUID()}`, input, inputPieces: [input] };
    }),
  };
}
