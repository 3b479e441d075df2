import type { Leases, StopNote } from '../../store/contract/leases.js';
import type { LeaseTimes } from './verdict.js';

/** A call that is executed, and the attempt that executes it. */
export interface Suspect {
  workId: string;
  toolCallId: string;
  toolName: string;
}

/** How a worker's main thread does, as the thread that renews its lease sees it. */
export interface Pulse {
  /** Changes with every turn of the main thread's timer. */
  ticks: () => number;
  /** How long the oldest write of the main thread has waited for an answer, ms. */
  unansweredMs: () => number;
  /** The tool that may hold up the main thread, if one does. */
  suspect: () => Suspect | undefined;
  /** True once the worker runs; before, it loads packages, which can hold a starved main thread for long. */
  isRunning: () => boolean;
}

/** What the owner of a lease learns of its renewals; times as of `now`. */
export interface RenewalReport {
  /** The name under which the worker holds its lease. */
  holder: string;
  /** When the last successful renewal was sent. */
  sentAt: number;
  /** Since when renewals have succeeded without a gap. */
  steadySince: number;
  /** Stops of the last seconds. */
  stops: StopNote[];
}

export interface RenewalOptions {
  leases: Pick<Leases, 'renew' | 'work' | 'hold'>;
  id: string;
  times: LeaseTimes;
  /** How long one renewal lasts. Default: `times.leaseMs`. */
  forMs?: number;
  pulse: Pulse;
  /** A monotonic clock that all threads of the process share, ms. */
  now: () => number;
  onReport: (report: RenewalReport) => void;
  /** The main thread has not turned for too long. */
  onHung: (suspect: Suspect | undefined) => void;
}

/** A worker whose main thread stands still, or cannot write, for this long does not renew. */
const UNWELL_MS = 5_000;
/** A main thread that stands still for this long while the worker runs is given up. */
const HUNG_MS = 10_000;

/**
 * Renews a lease each time `turn` is called, which happens every `renewMs`. A process that was
 * stopped as a whole makes no turns meanwhile, so that standing still is not held against its main
 * thread.
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
      // Judged although it lives: it continues under another name, at once.
      generation += 1;
      sentAt = undefined;
      await renew();
      return;
    }
    onReport({ holder: holder(), sentAt, steadySince, stops });
  }

  /** Who takes the attempt over must not be held up as well. */
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
        // Redis is away: the next turn tries again.
      } finally {
        isRenewing = false;
      }
    },
  };
}
