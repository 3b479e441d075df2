import { type Clock, systemClock } from '../extensions/one-process/clock.js';

/** The system's clock, which a test may advance. */
export interface TestClock extends Clock {
  /** Advances the clock and runs due callbacks in order. */
  advance: (ms: number) => void;
}

interface Timer {
  at: number;
  call: () => void;
  cancel: () => void;
}

export function createTestClock(): TestClock {
  let aheadMs = 0;
  const timers = new Set<Timer>();
  const now = (): number => Date.now() + aheadMs;

  function arm(timer: Timer): void {
    timer.cancel = systemClock.after(Math.max(0, timer.at - now()), () => {
      timers.delete(timer);
      timer.call();
    });
  }

  return {
    now,
    after: (ms, call) => {
      const timer: Timer = { at: now() + ms, call, cancel: () => undefined };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    advance: (ms) => {
      aheadMs += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        timer.cancel();
        if (timers.has(timer)) arm(timer);
      }
    },
  };
}
