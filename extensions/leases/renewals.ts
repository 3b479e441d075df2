import { tryParseJson, type Times } from '../../protocol/limits.js';
import type { Leases, StopNote } from '../../store/contract/leases.js';

/** Each process measures them by its own monotonic clock. */
export type LeaseTimes = Pick<
  Times,
  'leaseMs' | 'renewMs' | 'unresponsiveMs' | 'graceMs' | 'unseenMs' | 'patientMs'
>;

/** Milliseconds of a clock that never steps back and that all threads of the process share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** A call in execution that may be blocking the main thread, and its attempt. */
export interface Suspect {
  workId: string;
  toolCallId: string;
  toolName: string;
}

/** Health of a worker's main thread as the renewing thread sees it. */
export interface Pulse {
  /** Counter that grows with every turn of the main thread's timer. */
  ticks: () => number;
  /** Age of the main thread's oldest unanswered write, ms. */
  unansweredMs: () => number;
  /** Call that may be blocking the main thread. */
  suspect: () => Suspect | undefined;
  /** True once the worker runs. Before, loading packages may block a starved main thread for long. */
  isRunning: () => boolean;
}

/** Report to the owner of a lease about its renewals; times by the clock `now`. */
export interface RenewalReport {
  /** Name under which the worker holds its lease. */
  holder: string;
  /** Time at which the last successful renewal was sent. */
  sentAt: number;
  /** Start of the gapless renewals. */
  steadySince: number;
  /** Stop requests of the last seconds. */
  stops: StopNote[];
}

interface RenewalOptions {
  leases: Pick<Leases, 'renew' | 'work' | 'hold'>;
  id: string;
  times: LeaseTimes;
  /** Duration of one renewal. Default: `times.leaseMs`. */
  forMs?: number;
  pulse: Pulse;
  /** A monotonic clock that all threads of the process share, ms. */
  now: () => number;
  onReport: (report: RenewalReport) => void;
  /** Called when the main thread has been blocked for too long. */
  onHung: (suspect: Suspect | undefined) => void;
}

/**
 * Renews a lease on each `turn`, every `renewMs`. Blocked time counts in turns, so a process that was
 * suspended as a whole is not taken for one with a blocked main thread.
 */
export function createRenewals(options: RenewalOptions): { turn: () => Promise<void> } {
  const { leases, id, times, pulse, now, onReport, onHung } = options;
  const { forMs = times.leaseMs } = options;
  let generation = 0;
  let ticks = pulse.ticks();
  let still = 0;
  let hung = 0;
  let isRenewing = false;
  let isBlamed = false;
  let sentAt: number | undefined;
  let steadySince = 0;

  const holder = (): string => (generation === 0 ? id : `${id}.${String(generation)}`);

  async function renew(): Promise<void> {
    const begun = now();
    const { isOver, stops } = await leases.renew(holder(), forMs);
    const hasGap = sentAt === undefined || now() - sentAt >= times.leaseMs;
    if (hasGap) steadySince = begun;
    sentAt = begun;
    if (!isOver) {
      onReport({ holder: holder(), sentAt, steadySince, stops });
      return;
    }
    // Another worker judged this living one, so it continues at once under a new name.
    generation += 1;
    sentAt = undefined;
    await renew();
  }

  /** Registers the suspected call with its attempt: a successor must not execute it and be blocked as well. */
  async function blame(): Promise<void> {
    const { workId, toolCallId } = pulse.suspect() ?? {};
    const held = workId === undefined ? [] : await leases.work(holder());
    const work = held.find(({ id: each }) => each === workId);
    if (work !== undefined) await leases.hold(holder(), { ...work, blockedBy: toolCallId });
  }

  return {
    turn: async () => {
      const seen = pulse.ticks();
      still = seen === ticks ? still + 1 : 0;
      hung = still > 0 && pulse.isRunning() ? hung + 1 : 0;
      ticks = seen;
      if (hung * times.renewMs >= 2 * times.unresponsiveMs) onHung(pulse.suspect());
      const isHeldUp = hung * times.renewMs >= times.unresponsiveMs;
      if (isHeldUp && !isBlamed) blame().catch(() => undefined);
      isBlamed = isHeldUp;
      const isWell =
        still * times.renewMs < times.unresponsiveMs && pulse.unansweredMs() < times.unresponsiveMs;
      if (!isWell || isRenewing) return;
      isRenewing = true;
      try {
        await renew();
      } catch {
        // Redis is away; the next turn tries again.
      } finally {
        isRenewing = false;
      }
    },
  };
}

/** Places of the pulse's values in shared memory; SUSPECT is the length of the suspect's JSON text. */
const [TICKS, UNANSWERED, RUNNING, SUSPECT, VALUES] = [0, 1, 2, 3, 4];
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
      // The main thread may be writing the text right now.
      return tryParseJson(bytes.toString()) as Suspect | undefined;
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
    stop: () => clearInterval(timer),
  };
}
