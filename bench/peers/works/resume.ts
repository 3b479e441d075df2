import { createLeave, sleep } from '../../clock.js';
import type { Running } from '../contender.js';
import { WordsShown } from '../words-shown.js';

const TURN = { steps: 1, words: 200, everyMs: 25, stamp: false };
const CRASH_AFTER = 60;
/** After the crash. */
const GIVE_UP_MS = 30_000;
/** For a turn that never gets as far as its crash. */
const CRASH_WITHIN_MS = 30_000;
const PAUSE_MS = 250;

export interface Resumed {
  /** Words of the reply that the page did not show half a minute after the crash. */
  lost: number;
  /** Words that it then showed twice. */
  doubled: number;
  /** From the crash to the next new word, ms; NaN without one. */
  nextWordMs: number;
}

/** A reply whose process is killed in the middle and started again; its reader connects again. */
export async function measureResume(running: Running): Promise<Resumed> {
  const page = new WordsShown();
  const leave = createLeave();
  const giveUp = (): void => {
    leave.abort();
  };
  let timer = setTimeout(giveUp, CRASH_WITHIN_MS);
  const seen = new Set<string>();
  let crashedAt: number | undefined;
  let nextWordMs = NaN;
  let crash: Promise<void> | undefined;
  page.onWord = () => {
    const known = seen.size;
    for (const word of page.words) seen.add(word);
    if (crash === undefined && seen.size >= CRASH_AFTER) {
      crashedAt = performance.now();
      crash = running.crash();
      clearTimeout(timer);
      timer = setTimeout(giveUp, GIVE_UP_MS);
    } else if (crashedAt !== undefined && seen.size > known && Number.isNaN(nextWordMs)) {
      // What was on its way when the process died does not count.
      const ms = performance.now() - crashedAt;
      if (ms > 500) nextWordMs = ms;
    }
  };
  const turn = running.begin(TURN, page, leave.signal);
  await turn.response.catch(() => undefined);
  while (seen.size < TURN.words && !leave.signal.aborted) {
    await turn.attach(page, leave.signal).catch(() => undefined);
    await sleep(PAUSE_MS);
  }
  clearTimeout(timer);
  await crash;
  return { lost: TURN.words - new Set(page.words).size, doubled: page.doubled(), nextWordMs };
}
