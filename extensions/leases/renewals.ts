import type { Leases, StopNote } from '../../store/contract/leases.js';
import type { LeaseTimes } from './verdict.js';

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

export interface RenewalOptions {
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

/** The lease is no longer renewed once the main thread is blocked, or cannot write, for this long. */
const UNWELL_MS = 5_000;
/** A running worker whose main thread is blocked for this long is given up. */
const HUNG_MS = 10_000;

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
    if (isOver) {
      // Another worker judged this living one, so it continues at once under a new name.
      generation += 1;
      sentAt = undefined;
      await renew();
      return;
    }
    onReport({ holder: holder(), sentAt, steadySince, stops });
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
      if (hung * times.renewMs >= HUNG_MS) onHung(pulse.suspect());
      const isHeldUp = hung * times.renewMs >= UNWELL_MS;
      if (isHeldUp && !isBlamed) blame().catch(() => undefined);
      isBlamed = isHeldUp;
      const isWell = still * times.renewMs < UNWELL_MS && pulse.unansweredMs() < UNWELL_MS;
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
