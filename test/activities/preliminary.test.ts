import { createPreliminary } from '../../activities/tool/call-context.js';
import { LIMITS } from '../../protocol/limits.js';

/** Shows values with the clock in the test's hands. */
function withClock(play: (shown: unknown[], show: (value: unknown) => void) => void): void {
  jest.useFakeTimers();
  try {
    const shown: unknown[] = [];
    const preliminary = createPreliminary((value) => shown.push(value));
    play(shown, preliminary.show);
    preliminary.close();
    preliminary.show('late');
    const { length } = shown;
    jest.advanceTimersByTime(10_000);
    expect(shown).toHaveLength(length);
  } finally {
    jest.useRealTimers();
  }
}

describe('preliminary results', () => {
  it('the first is shown at once, and later ones at a pace, the newest each time', () => {
    withClock((shown, show) => {
      for (let n = 0; n < 50; n += 1) show(n);
      expect(shown).toEqual([0]);
      jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      expect(shown).toEqual([0, 49]);
      jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      show('after a pause');
      expect(shown).toEqual([0, 49, 'after a pause']);
    });
  });

  it('what is shown does not change when the tool changes its value', () => {
    withClock((shown, show) => {
      const value = { list: [1] };
      show(value);
      value.list.push(2);
      expect(shown).toEqual([{ list: [1] }]);
    });
  });

  it('what is no JSON or too large is left out, and one call may show so much in all', () => {
    withClock((shown, show) => {
      const cycle: { own?: object } = {};
      cycle.own = cycle;
      for (const value of [undefined, 1n, cycle, 'x'.repeat(LIMITS.preliminaryBytes)]) show(value);
      expect(shown).toEqual([]);
      for (let n = 0; n < 100; n += 1) {
        show('y'.repeat(LIMITS.preliminaryBytes - 2));
        jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      }
      expect(shown).toHaveLength(LIMITS.callPreliminaryBytes / LIMITS.preliminaryBytes);
    });
  });
});
