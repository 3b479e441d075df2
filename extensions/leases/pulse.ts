import type { Pulse, Suspect } from './renewals.js';

const TICKS = 0;
const UNANSWERED = 1;
const RUNNING = 2;
/** Length of the JSON text of the suspect. */
const SUSPECT = 3;
const VALUES = 4;
const TEXT_AT = VALUES * Int32Array.BYTES_PER_ELEMENT;
const TEXT_BYTES = 2_048;

/** Interval of the main thread's ticks. */
const TICK_MS = 200;

/** Reads the pulse of the main thread from shared memory. */
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
        // The main thread is writing the text right now.
        return undefined;
      }
    },
  };
}

/** Writes the pulse of this thread until `stop`. The timer does not keep the process alive. */
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
  /** Call that began after the last tick; if the thread blocks before the next one, this call blocks it. */
  let begun: Suspect | undefined;

  function write(): void {
    // Of several earlier calls any may be to blame, so none is named.
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
