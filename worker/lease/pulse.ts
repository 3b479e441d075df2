import type { Pulse } from './renewals.js';

const TICKS = 0;
const UNANSWERED = 1;
const RUNNING = 2;
const VALUES = 3;

/** How often the main thread shows that it turns. */
const TICK_MS = 200;

/** Reads the pulse that another thread writes. */
export function readPulse(shared: SharedArrayBuffer): Pulse {
  const values = new Int32Array(shared);
  return {
    ticks: () => Atomics.load(values, TICKS),
    unansweredMs: () => Atomics.load(values, UNANSWERED),
    isRunning: () => Atomics.load(values, RUNNING) === 1,
  };
}

/** Writes the pulse of this thread until it is stopped; the timer keeps no process alive. */
export function startPulse(unansweredMs: () => number): {
  shared: SharedArrayBuffer;
  run: () => void;
  stop: () => void;
} {
  const shared = new SharedArrayBuffer(VALUES * Int32Array.BYTES_PER_ELEMENT);
  const values = new Int32Array(shared);
  const tick = (): void => {
    Atomics.add(values, TICKS, 1);
    Atomics.store(values, UNANSWERED, Math.round(unansweredMs()));
  };
  const timer = setInterval(tick, TICK_MS);
  timer.unref();
  return {
    shared,
    run: () => {
      Atomics.store(values, RUNNING, 1);
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}
