import { NO_METER, type RunMeter } from '../../protocol/telemetry.js';
import { TIMES } from '../../protocol/limits.js';
import type { HeldWork, LeaseState, Leases } from '../../store/contract/leases.js';
import type { TakeOver } from '../../worker/index.js';
import type { LeaseTimes } from './renewals.js';
import type { WorkerLease } from './worker-lease.js';

interface JudgeOptions {
  leases: Leases;
  own: Pick<WorkerLease, 'holder' | 'isOwn' | 'steadySince'>;
  times: LeaseTimes;
  /** Same clock as `own.steadySince`, ms. */
  now: () => number;
  meter?: RunMeter | undefined;
  logger: { info: Log; warn: Log };
}
type Log = (fields: object, message: string) => void;

/** A judge holds the right to take over one lease's attempts for this long. */
const JUDGE_MS = 2_000;
/** After this long a judge starts no further take-over. */
const BEGIN_WITHIN_MS = 1_500;
const AT_ONCE = 20;
/** A worker watches the leases that follow its own by name, up to this many living ones. */
const LIVING_WATCHED = 5;
const LOOKS_AT_ONCE = 8;
const MIN_MS = 20;

/**
 * Looks at the leases of other workers and takes over the attempts of dead ones. Without `takeOver` it
 * only remembers the state of each lease.
 *
 * @returns ms until the next look
 */
export type Look = (takeOver?: TakeOver) => Promise<number>;

export function createJudge(options: JudgeOptions): Look {
  const { leases, own, times, now, meter = NO_METER, logger } = options;
  let sightings = new Map<string, Sighting>();

  /** Looks at the leases that follow this worker's own by name, so that each lease has a few watchers. */
  async function watch(): Promise<Map<string, LeaseState>> {
    const others = (await leases.holders()).filter((holder) => !own.isOwn(holder)).sort();
    const self = own.holder();
    const after = others.findIndex((holder) => holder > self);
    const ring = after > 0 ? [...others.slice(after), ...others.slice(0, after)] : others;
    const states = new Map<string, LeaseState>();
    let living = 0;
    for (let at = 0; at < ring.length && living < LIVING_WATCHED; at += LOOKS_AT_ONCE) {
      const page = ring.slice(at, at + LOOKS_AT_ONCE);
      const looks = await Promise.all(page.map((holder) => leases.look(holder)));
      looks.forEach((state, n) => states.set(page[n] ?? '', state));
      living += looks.filter(({ leftMs }) => leftMs > 0).length;
    }
    return states;
  }

  async function take(takeOver: TakeOver, holder: string, which: Takes): Promise<void> {
    // The holder may have renewed the lease while this worker took over others.
    const { leftMs, isEnded, isOver } = await leases.look(holder);
    if (leftMs > 0 && !isEnded) return;
    // The meter counts each dead worker once, and none that left in an orderly way.
    const isNews = !isEnded && !isOver;
    const work = await leases.work(holder);
    if (work.length === 0) {
      await leases.noteDeath();
      if ((await leases.forget(holder)) && isNews) meter({ kind: 'lease_judged' });
      return;
    }
    const due = work.filter(({ isPatient }) => which === 'all' || isPatient !== true);
    if (due.length === 0 || !(await leases.judge(holder, JUDGE_MS))) return;
    logger.info({ holder, attempts: due.length }, 'taking over the attempts of a dead worker');
    await leases.noteDeath();
    if (isNews) meter({ kind: 'lease_judged' });
    const giveUpAt = now() + BEGIN_WITHIN_MS;
    const takeNext = async (): Promise<void> => {
      for (let one = due.shift(); one !== undefined; one = due.shift()) {
        if (now() > giveUpAt) return;
        await takeOne(takeOver, holder, one);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeNext));
  }

  async function takeOne(takeOver: TakeOver, holder: string, work: HeldWork): Promise<void> {
    try {
      await takeOver(work);
      await leases.release(holder, work.id);
      meter({ kind: 'attempt_taken_over', isDone: true });
    } catch (error) {
      // The attempt stays registered, so a worker tries again.
      const { workflowId } = work;
      meter({ kind: 'attempt_taken_over', isDone: false });
      logger.warn({ err: error, workflowId }, 'an attempt could not be taken over');
    }
  }

  return async (takeOver) => {
    const states = await watch();
    const [at, steadySince] = [now(), own.steadySince()];
    const seen = new Map<string, Sighting>();
    const due: [holder: string, which: Takes][] = [];
    let nextMs = times.renewMs;
    for (const [holder, state] of states) {
      const sighting = see(sightings.get(holder), state, at, times);
      seen.set(holder, sighting);
      const { takes, againMs } = judgeLease(sighting, steadySince, at, times);
      if (againMs !== undefined) nextMs = Math.min(nextMs, Math.max(MIN_MS, againMs));
      if (takes !== 'none') due.push([holder, takes]);
    }
    // Taking over may fail, so the sightings are kept first.
    sightings = seen;
    if (takeOver === undefined) return nextMs;
    for (const [holder, takes] of due) await take(takeOver, holder, takes);
    return nextMs;
  };
}

/** Another worker's lease as this process last saw it. */
export interface Sighting {
  /** Time of this look. */
  at: number;
  /** Time of the last look that found the lease held. */
  heldAt: number | undefined;
  /** Time of the lapse, or of the first look that found it lapsed; undefined while it is held. */
  lapsedAt: number | undefined;
  /** Time at which a held lease lapses unless it is renewed. */
  lapsesAt: number | undefined;
  isEnded: boolean;
}

/**
 * Updates a sighting by another look. Between looks that are far apart the worker may have renewed the
 * lease many times, so a lapse then counts only from this look.
 */
export function see(
  before: Sighting | undefined,
  { leftMs, isEnded }: { leftMs: number; isEnded: boolean },
  now: number,
  { renewMs }: Pick<LeaseTimes, 'renewMs'> = TIMES,
): Sighting {
  if (leftMs > 0) {
    return { at: now, heldAt: now, lapsedAt: undefined, lapsesAt: now + leftMs, isEnded: false };
  }
  const isSoon = before !== undefined && now - before.at <= 2 * renewMs;
  const lapsesAt = isSoon ? before.lapsesAt : undefined;
  const lapsedAt = before?.lapsedAt ?? Math.min(now, lapsesAt ?? now);
  return { at: now, heldAt: before?.heldAt, lapsedAt, lapsesAt: undefined, isEnded };
}

/** `most`: all attempts of a holder but started calls that may not be repeated. */
type Takes = 'none' | 'most' | 'all';

/**
 * Judges a lease. A Redis that stalls, restarts or fails over lapses all leases at once, so only a
 * process whose own renewals succeeded throughout the lapse judges others soon. One that started
 * later, or had a gap of its own, needs the lease to stay lapsed for longer.
 *
 * @param steadySince start of this process's own gapless renewals; undefined if they fail
 * @returns the attempts that may be taken over now; `againMs`, ms until the next look, if that is due before the
 * regular one
 */
export function judgeLease(
  sighting: Sighting,
  steadySince: number | undefined,
  now: number,
  { graceMs, unseenMs, patientMs }: LeaseTimes = TIMES,
): { takes: Takes; againMs?: number } {
  const { heldAt, lapsedAt, lapsesAt, isEnded } = sighting;
  if (isEnded) return { takes: 'all' };
  if (steadySince === undefined) return { takes: 'none' };
  if (lapsedAt === undefined) {
    return { takes: 'none', ...(lapsesAt !== undefined && { againMs: lapsesAt + graceMs - now }) };
  }
  const wasSeen = heldAt !== undefined && steadySince <= heldAt;
  const since = wasSeen ? lapsedAt : Math.max(lapsedAt, steadySince);
  const forMs = now - since;
  if (forMs >= patientMs) return { takes: 'all' };
  const neededMs = wasSeen ? graceMs : unseenMs;
  return forMs >= neededMs ? { takes: 'most' } : { takes: 'none', againMs: neededMs - forMs };
}
