import type { LogEntry } from '../../../protocol/chunk.js';

/** What the word writer reports. */
export type WriterMessage =
  | { did: 'claim' | 'commit'; step: number }
  | { did: 'append'; step: number; word: number }
  | { did: 'finish' }
  | { did: 'stop'; refusal: string };

/** All that the steps are to say, each word once. */
export function allWords(steps: number, words: number): string[] {
  return Array.from({ length: steps * words }, (_, n) => {
    const [step, word] = [Math.floor(n / words) + 1, (n % words) + 1];
    return `${String(step)}.${String(word)} `;
  });
}

/** The words that stand after everything that a follower was given: what was discarded is gone. */
export function standingWords(entries: readonly LogEntry[]): string[] {
  let words: { step: number; text: string }[] = [];
  for (const { message } of entries) {
    if (message.type === 'text_delta') words.push({ step: message.step, text: message.delta });
    if (message.type === 'step_discarded') {
      words = words.filter(({ step }) => `s${String(step)}` !== message.stepId);
    }
  }
  return words.map(({ text }) => text);
}
