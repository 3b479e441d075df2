import { NotDelivered } from './not-delivered.js';

/** Attributes of a notice by which a receiver's queue orders it. */
export interface Waiting {
  tenant: string;
  /** Owner of the conversation within the tenant. A notice without an owner goes at once. */
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

/** Attempts of a lane in the last hour; times in ms. */
export interface Sent {
  /** Start of the newest attempt for each tenant and owner. */
  turns: ReadonlyMap<string, number>;
  /** Times of successful attempts for an owner, per kind and in total; the newest last. */
  taken: ReadonlyMap<string, readonly number[]>;
}

/** Capacity of one receiver's queue. Beyond it, the owner with the most notices loses the newest. */
const MOST_WAITING = 60;
const JOIN_MS = 60_000;
const HOUR_MS = 60 * 60_000;

/** Returns the time at which a notice of this owner may be sent. Pure. */
export function dueAt(
  { tenant, owner, kind }: Waiting,
  { taken }: Pick<Sent, 'taken'>,
  { joins, perHour }: Pick<LaneLimits, 'joins' | 'perHour'>,
): number {
  if (!joins || owner === undefined) return 0;
  const ofKind = taken.get(keyOf({ tenant, owner, kind }))?.at(-1) ?? -JOIN_MS;
  const ofHour = taken.get(keyOf({ tenant, owner, kind: '' }))?.at(-perHour) ?? -HOUR_MS;
  return Math.max(ofKind + JOIN_MS, ofHour + HOUR_MS);
}

/**
 * Chooses the notices to send next: those of the tenant, and within it the owner, served longest ago. So
 * an owner with many notices waits behind one with few. `waiting` has the oldest first. Pure.
 */
export function chooseNext<W extends Waiting>(
  waiting: readonly W[],
  sent: Sent,
  now: number,
  limits: Pick<LaneLimits, 'joins' | 'perHour'>,
): { chosen: W[]; at: number } {
  const due = new Map(waiting.map((each) => [each, dueAt(each, sent, limits)]));
  const dueOf = (each: W): number => due.get(each) ?? 0;
  const at = Math.min(...due.values());
  const served = (each: W): [number, number] => [
    sent.turns.get(keyOf({ tenant: each.tenant, kind: '' })) ?? -1,
    sent.turns.get(keyOf({ ...each, kind: '' })) ?? -1,
  ];
  const [first] = waiting
    .filter((each) => dueOf(each) <= now)
    // The sort is stable, so of equals the oldest goes first.
    .sort((one, other) => {
      const [[tenant, owner], [otherTenant, otherOwner]] = [served(one), served(other)];
      return tenant - otherTenant || owner - otherOwner;
    });
  if (first === undefined) return { chosen: [], at };
  if (!limits.joins || first.owner === undefined) return { chosen: [first], at: now };
  return { chosen: waiting.filter((each) => keyOf(each) === keyOf(first)), at: now };
}

function keyOf({ tenant, owner, kind }: Waiting): string {
  return JSON.stringify([tenant, owner, kind]);
}

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
    return () => {
      clearTimeout(timer);
    };
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
  limits: LaneLimits,
  send: (items: T[]) => Promise<readonly (Error | undefined)[]>,
  { now, after }: LaneClock = CLOCK,
): Lane<T> {
  const waiting: Entry<T>[] = [];
  const turns = new Map<string, number>();
  const taken = new Map<string, number[]>();
  let active = 0;
  let next = 0;
  let cancel: () => void = () => undefined;

  function forget(): void {
    const since = now() - HOUR_MS;
    for (const [key, at] of turns) if (at <= since) turns.delete(key);
    for (const [key, times] of taken) {
      const recent = times.filter((at) => at > since);
      if (recent.length === 0) taken.delete(key);
      else taken.set(key, recent);
    }
  }

  function noteTaken(whose: Waiting): void {
    for (const kind of [whose.kind, '']) {
      const key = keyOf({ ...whose, kind });
      taken.set(key, [...(taken.get(key) ?? []), now()]);
    }
  }

  /** Refuses the newest notice of the owner with the most, if that owner has more than the new notice's owner would. */
  function makeRoom(own: number): boolean {
    const lists = new Map<string, Entry<T>[]>();
    for (const entry of waiting) {
      const key = keyOf({ ...entry, kind: '' });
      lists.set(key, [...(lists.get(key) ?? []), entry]);
    }
    const [most = []] = [...lists.values()].sort((one, other) => other.length - one.length);
    const last = most.at(-1);
    if (last === undefined || most.length <= own + 1) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.end(busy(0));
    return true;
  }

  function pump(): void {
    cancel();
    while (active < limits.atOnce && waiting.length > 0) {
      const found = chooseNext(waiting, { turns, taken }, now(), limits);
      const at = Math.max(found.at, next);
      if (at > now()) {
        cancel = after(at - now(), pump);
        return;
      }
      for (const entry of found.chosen) waiting.splice(waiting.indexOf(entry), 1);
      void begin(found.chosen);
    }
  }

  async function begin(chosen: Entry<T>[]): Promise<void> {
    const [first] = chosen;
    if (first === undefined) return;
    active += 1;
    next = now() + limits.paceMs;
    forget();
    turns.set(keyOf({ tenant: first.tenant, kind: '' }), now());
    turns.set(keyOf({ ...first, kind: '' }), now());
    try {
      const left = await send(chosen.map(({ item }) => item));
      noteTaken(first);
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
      const waitMs = dueAt(whose, { taken }, limits) - now();
      if (own.length >= limits.waiting) throw busy(Math.max(waitMs, 0));
      // Its retry comes in time to be joined with notices that arrive until then.
      if (waitMs > JOIN_MS) throw busy(waitMs - JOIN_MS);
      if (waiting.length >= MOST_WAITING && !makeRoom(own.length)) throw busy(0);
      const entry: Entry<T> = {
        ...{ tenant, owner, kind, item },
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

function busy(leastMs: number): NotDelivered {
  const retryAfterMs = leastMs + 5_000 + Math.round(Math.random() * 10_000);
  return new NotDelivered('busy', 'Too much is being sent to this receiver.', { retryAfterMs });
}
