import { describe, expect, it } from '@jest/globals';
import { explore } from './explore.js';

const nothing = { messages: 1, calls: 0, crashes: 0, lostSignals: 0, stops: 0, terminations: 0 };

describe('every order of events', () => {
  it.each([
    ['two calls and a crash', { ...nothing, calls: 2, crashes: 1 }, 500],
    ['two calls and a stop', { ...nothing, calls: 2, stops: 1 }, 500],
    ['lost signals', { ...nothing, messages: 2, calls: 1, lostSignals: 2 }, 100],
    ['a lost signal and a stop', { ...nothing, calls: 1, stops: 1, lostSignals: 1 }, 100],
    ['a workflow that is terminated', { ...nothing, calls: 1, terminations: 1, crashes: 1 }, 100],
    ['a message in between', { ...nothing, messages: 2, calls: 1 }, 300],
    ['messages that wait', { ...nothing, messages: 3, stops: 1 }, 300],
  ])(
    'with %s keeps the rules, and always finds an end',
    async (_, budget, atLeast) => {
      const { worlds, fault } = await explore(budget);
      expect(fault).toBeUndefined();
      // Fewer would mean that the exploration looks at less than it says.
      expect(worlds).toBeGreaterThan(atLeast);
    },
    120_000,
  );
});
