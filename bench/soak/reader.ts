import { createDataLines } from '../client/data-lines.js';
import { toWords } from './tally.js';

/** What a page that follows a turn has seen, over all its connections. */
export interface Reader {
  /** Reads a response to its end; true if the turn ended with it, false if it was cut or is paused. */
  read: (response: Response) => Promise<boolean>;
  /** Words on the page; a replay starts over. */
  words: () => string[];
  /** What comes next is waited for from now on: a person had to act. */
  rest: () => void;
}

/** Between two words of a reply that nothing disturbs there is much less. */
const DISTURBED_MS = 1_500;

/**
 * @param onRecovery called with the ms that it took until words came again
 * @param leaveAfterMs the first response is left this long after it began, as a page that is loaded again does
 */
export function createReader(onRecovery: (ms: number) => void, leaveAfterMs = Infinity): Reader {
  let leaveAt: number | undefined;
  let text = '';
  let most = 0;
  let grownAt: number | undefined;

  function take(line: string): boolean {
    if (line === '[DONE]') return false;
    const part = JSON.parse(line) as { type: string; delta?: string; finishReason?: string };
    if (part.type === 'start') text = '';
    if (part.type === 'text-delta') text += part.delta ?? '';
    if (part.type === 'text-end') text += ' ';
    if (text.length > most) {
      const now = performance.now();
      if (grownAt !== undefined && now - grownAt > DISTURBED_MS) onRecovery(now - grownAt);
      grownAt = now;
      most = text.length;
    }
    // At a pause the page has to ask again: a question may expire, and the run end, meanwhile.
    return part.type === 'finish' && part.finishReason !== 'tool-calls';
  }

  return {
    read: async (response) => {
      let isEnded = false;
      const takePiece = createDataLines((line) => {
        isEnded = take(line) || isEnded;
      });
      const decoder = new TextDecoder();
      const isFirst = leaveAt === undefined;
      leaveAt ??= performance.now() + leaveAfterMs;
      try {
        for await (const piece of response.body ?? []) {
          takePiece(decoder.decode(piece, { stream: true }), 0);
          if (isFirst && performance.now() > leaveAt) return false;
        }
      } catch {
        return false;
      }
      return isEnded;
    },
    words: () => toWords(text),
    rest: () => {
      grownAt = undefined;
    },
  };
}
