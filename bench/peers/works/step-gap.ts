import { createLeave } from '../../clock.js';
import { summarize, type Summary } from '../../report/statistics.js';
import type { Running } from '../contender.js';
import { WordsShown } from '../words-shown.js';

/** The time between the last word of a step and the first of the next one, with a tool between; ms. */
export async function measureStepGap(running: Running, steps: number): Promise<Summary> {
  const page = new WordsShown();
  const turn = { steps, words: 1, everyMs: 0, stamp: true };
  await running.begin(turn, page, createLeave().signal).response;
  const spoken = page.words.map(Number);
  return summarize(spoken.slice(1).map((at, index) => at - (spoken[index] ?? NaN)));
}
