import { randomInt } from 'node:crypto';
import { sleep } from '../clock.js';
import type { Faults } from './faults.js';

const LEAST_PAUSE_MS = 3_000;
const MOST_PAUSE_MS = 8_000;

/**
 * Plays the faults one after the other, each once before any comes again, until the time is over;
 * resolves when the last one is over.
 */
export async function playFaults(
  faults: Faults,
  end: AbortSignal,
  onFault: (name: string) => void,
): Promise<void> {
  while (Object.keys(faults).length > 0) {
    for (const [name, play] of shuffled(Object.entries(faults))) {
      await sleep(LEAST_PAUSE_MS + randomInt(MOST_PAUSE_MS - LEAST_PAUSE_MS));
      if (end.aborted) return;
      onFault(name);
      await play();
    }
  }
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
