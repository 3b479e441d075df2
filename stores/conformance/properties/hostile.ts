import fc from 'fast-check';
import type { Suite } from '../suite.js';
import { hostileLives, liveHostile } from './hostile-life.js';

/** A life of two dozen transitions counts for several events of the other properties. */
const EVENTS = 5;

export function hostileProperties({ describe, it, runs }: Suite): void {
  describe('whatever people, models and tools say', () => {
    it('rows, log, calls and state have it as it was given', async (stores) => {
      await fc.assert(
        fc.asyncProperty(hostileLives, (life) => liveHostile(stores, life)),
        { numRuns: Math.ceil(runs / EVENTS) },
      );
    });
  });
}
