import fc from 'fast-check';
import type { Suite } from '../suite.js';
import { hostileLives } from './hostile-inputs.js';
import { liveHostile } from './hostile-life.js';

/** A life of two dozen transitions counts like several events of the other properties. */
const EVENTS = 5;

export function hostileProperties({ describe, it, runs }: Suite): void {
  describe('hostile values of people, models and tools', () => {
    it('hostile values are read back unchanged from rows, log, calls and state', async (stores) => {
      await fc.assert(
        fc.asyncProperty(hostileLives, (life) => liveHostile(stores, life)),
        { numRuns: Math.ceil(runs / EVENTS) },
      );
    });
  });
}
