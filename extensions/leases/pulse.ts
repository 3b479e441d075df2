import type { Pulse, Suspect } from './renewals.js';

const TICKS = 0;
const UNANSWERED = 1;
const RUNNING = 2;
/** Length of the text that names the tool which would be to blame. */
const SUSPECT = 3;
const VALUES = 4;
const TEXT_AT = VALUES * Int32Array.BYTES_PER_ELEMENT;
const TEXT_BYTES = 2_048;

/** How often the main thread shows that it turns. */
const TICK_MS = 200;

/** Reads the pulse that another thread writes. */
export function readPulse(shared: SharedArrayBuffer): Pulse {
  const values = new Int32Array(shared, 0, VALUES);
  return {
    ticks: () => Atomics.load(values, TICKS),
    unansweredMs: () => Atomics.load(values, UNANSWERED),
    isRunning: () => Atomics.load(values, RUNNING) === 1,
    suspect: () => {
      const length = Atomics.load(values, SUSPECT);
      if (length === 0) return undefined;
      const bytes = Buffer.from(new Uint8Array(shared, TEXT_AT, length));
      try {
        return JSON.parse(bytes.toString()) as Suspect;
      } catch {
        // The main thread is writing it.
        return undefined;
      }
    },
  };
}

/** Writes the pulse of this thread until it is stopped; the timer keeps no process alive. */
export function startPulse(unansweredMs: () => number): {
  shared: SharedArrayBuffer;
  run: () => void;
  executing: (call: Suspect) => () => void;
  stop: () => void;
} {
  const shared = new SharedArrayBuffer(TEXT_AT + TEXT_BYTES);
  const values = new Int32Array(shared, 0, VALUES);
  const text = new Uint8Array(shared, TEXT_AT);
  const executing = new Set<Suspect>();
  /** Begun since the last tick: what stands still now began with it. */
  let begun: Suspect | undefined;

  function write(): void {
    // One of several that began earlier may be to blame, and there is no telling which.
    const suspect = begun ?? (executing.size === 1 ? [...executing][0] : undefined);
    const bytes = Buffer.from(suspect === undefined ? '' : JSON.stringify(suspect));
    const length = bytes.length > TEXT_BYTES ? 0 : bytes.length;
    Atomics.store(values, SUSPECT, 0);
    text.set(bytes.subarray(0, length));
    Atomics.store(values, SUSPECT, length);
  }

  const tick = (): void => {
    if (begun !== undefined) {
      begun = undefined;
      write();
    }
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
    executing: (call) => {
      executing.add(call);
      begun = call;
      write();
      return () => {
        executing.delete(call);
        if (begun === call) begun = undefined;
        write();
      };
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}
