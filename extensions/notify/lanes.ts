import { NotDelivered } from './post.js';

/** Attributes of a notice by which a receiver's queue orders it. */
export interface Waiting {
  tenant: string;
  /**
   * The person whose conversation it is, within the tenant, or the receiver of a failed delivery. A notice
   * without an owner goes at once.
   */
  owner?: string | undefined;
  /** Notices of one owner and kind may be joined. */
  kind: string;
}

/** Limits of one receiver in one process. */
export interface LaneLimits {
  /** Concurrent attempts. */
  atOnce: number;
  /** Queued notices of one owner; further ones are refused as `busy`. */
  waiting: number;
  /** Minimum time between the starts of two attempts, ms. */
  paceMs: number;
  /** Joins an owner's notices of one minute, for receivers that people read. */
  joins: boolean;
  /** Attempts per hour for one owner; further notices wait and are joined. */
  perHour: number;
}

/** Capacity of one receiver's queue. Beyond it, the owner with the most notices loses the newest. */
const MAX_WAITING = 60;
const JOIN_MS = 60_000;
const HOUR_MS = 60 * 60_000;

interface Entry<T> extends Waiting {
  item: T;
  end: (error?: Error) => void;
}

/** A clock in ms. `after` schedules work and returns a function that cancels it. */
interface LaneClock {
  now: () => number;
  after: (ms: number, work: () => void) => () => void;
}

const CLOCK: LaneClock = {
  now: Date.now,
  after: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Queues an item; resolves once it is sent. @throws NotDelivered `busy`, and errors of `send` */
export type Lane<T> = (item: T, whose: Waiting, signal?: AbortSignal) => Promise<void>;

/**
 * Creates the queue of one receiver. A hanging receiver delays neither other receivers nor the process,
 * and an owner with many notices does not delay those of others.
 *
 * @param send makes one attempt for one item or several joined ones; may return an error per item
 */
export function createLane<T>(
  { atOnce, waiting: mostOfOwner, paceMs, joins, perHour }: LaneLimits,
  send: (items: T[]) => Promise<readonly (Error | undefined)[]>,
  { now, after }: LaneClock = CLOCK,
): Lane<T> {
  /** The oldest first. */
  const waiting: Entry<T>[] = [];
  /** Start of the newest attempt for each tenant and owner in the last hour. */
  const turns = new Map<string, number>();
  /** Times of successful attempts for an owner in the last hour, per kind and in total; the newest last. */
  const taken = new Map<string, number[]>();
  let active = 0;
  let next = 0;
  let cancel: () => void = () => undefined;

  /** Returns the time at which a notice of this owner may be sent. */
  function dueAt({ tenant, owner, kind }: Waiting): number {
    if (!joins || owner === undefined) return 0;
    const ofKind = taken.get(keyOf(tenant, owner, kind))?.at(-1) ?? -JOIN_MS;
    const ofHour = taken.get(keyOf(tenant, owner))?.at(-perHour) ?? -HOUR_MS;
    return Math.max(ofKind + JOIN_MS, ofHour + HOUR_MS);
  }

  /**
   * Chooses the notices to send next: those of the tenant, and within it the owner, served longest ago. So an
   * owner with many notices waits behind one with few.
   */
  function chooseNext(): Entry<T>[] {
    const served = (tenant: string, owner?: string): number =>
      turns.get(keyOf(tenant, owner)) ?? -1;
    const [first] = waiting
      .filter((each) => dueAt(each) <= now())
      // The sort is stable, so of equals the oldest goes first.
      .sort(
        (a, b) =>
          served(a.tenant) - served(b.tenant) ||
          served(a.tenant, a.owner) - served(b.tenant, b.owner),
      );
    if (first === undefined) return [];
    const { tenant, owner, kind } = first;
    if (!joins || owner === undefined) return [first];
    return waiting.filter(
      (each) => each.tenant === tenant && each.owner === owner && each.kind === kind,
    );
  }

  function forget(): void {
    const since = now() - HOUR_MS;
    for (const [key, at] of turns) if (at <= since) turns.delete(key);
    for (const [key, times] of taken) {
      const recent = times.filter((at) => at > since);
      if (recent.length === 0) taken.delete(key);
      else taken.set(key, recent);
    }
  }

  /** Refuses the newest notice of the owner with the most, if that owner has more than the new notice's owner would. */
  function makeRoom(own: number): boolean {
    const lists = new Map<string, Entry<T>[]>();
    for (const entry of waiting) {
      const key = keyOf(entry.tenant, entry.owner);
      lists.set(key, [...(lists.get(key) ?? []), entry]);
    }
    const [max = []] = [...lists.values()].sort((one, other) => other.length - one.length);
    const last = max.at(-1);
    if (last === undefined || max.length <= own + 1) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.end(busy(0));
    return true;
  }

  function pump(): void {
    cancel();
    while (active < atOnce && waiting.length > 0) {
      const at = Math.max(next, Math.min(...waiting.map(dueAt)));
      if (at > now()) {
        cancel = after(at - now(), pump);
        return;
      }
      const chosen = chooseNext();
      for (const entry of chosen) waiting.splice(waiting.indexOf(entry), 1);
      void begin(chosen);
    }
  }

  async function begin(chosen: Entry<T>[]): Promise<void> {
    const [first] = chosen;
    if (first === undefined) return;
    const { tenant, owner, kind } = first;
    active += 1;
    next = now() + paceMs;
    forget();
    turns.set(keyOf(tenant), now());
    turns.set(keyOf(tenant, owner), now());
    try {
      const left = await send(chosen.map(({ item }) => item));
      for (const key of [keyOf(tenant, owner, kind), keyOf(tenant, owner)]) {
        taken.set(key, [...(taken.get(key) ?? []), now()]);
      }
      for (const [nth, { end }] of chosen.entries()) end(left[nth]);
    } catch (error) {
      for (const { end } of chosen) end(error as Error);
    }
    active -= 1;
    pump();
  }

  return (item, whose, signal) =>
    new Promise((resolve, reject) => {
      const { tenant, owner, kind } = whose;
      const own = waiting.filter((each) => each.tenant === tenant && each.owner === owner);
      const waitMs = dueAt(whose) - now();
      if (own.length >= mostOfOwner) throw busy(Math.max(waitMs, 0));
      // Its retry comes in time to be joined with notices that arrive until then.
      if (waitMs > JOIN_MS) throw busy(waitMs - JOIN_MS);
      if (waiting.length >= MAX_WAITING && !makeRoom(own.length)) throw busy(0);
      const entry: Entry<T> = {
        tenant,
        owner,
        kind,
        item,
        end: (error) => {
          signal?.removeEventListener('abort', giveUp);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const giveUp = (): void => {
        const at = waiting.indexOf(entry);
        if (at < 0) return;
        waiting.splice(at, 1);
        entry.end(signal?.reason as Error);
        pump();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.push(entry);
      pump();
    });
}

function keyOf(tenant: string, owner?: string, kind?: string): string {
  return JSON.stringify([tenant, owner, kind]);
}

function busy(leastMs: number): NotDelivered {
  const retryAfterMs = leastMs + 5_000 + Math.round(Math.random() * 10_000);
  return new NotDelivered('busy', 'Too much is being sent to this receiver.', { retryAfterMs });
}
