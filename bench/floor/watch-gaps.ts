import { sleep } from '../clock.js';
import type { Floor } from './floor-client.js';

const LOOK_EVERY_MS = 200;

/** The pause between two bare activities, and when it was. */
export interface BareGap {
  at: number;
  ms: number;
}

/**
 * Looks now and then at what bare activities take, until the work is over: a machine that has other
 * work as well is not the same for minutes.
 */
export async function watchGaps(floor: Floor, work: Promise<unknown>): Promise<BareGap[]> {
  const over = new AbortController();
  const end = (): void => {
    over.abort();
  };
  work.then(end, end);
  const gaps: BareGap[] = [];
  while (!over.signal.aborted) {
    const { spans } = await floor.runSteps(3);
    for (const [index, { end: at }] of spans.slice(0, -1).entries()) {
      gaps.push({ at, ms: (spans[index + 1]?.begin ?? NaN) - at });
    }
    await sleep(LOOK_EVERY_MS);
  }
  return gaps;
}
