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

interface Entry<T> {
  kind: string;
  item: T;
  end: (error?: Error) => void;
}

/** The notices of one owner of a tenant, or those of the tenant without an owner. */
interface Owner<T> {
  tenant: string;
  joins: boolean;
  /** The oldest first. */
  waiting: Entry<T>[];
  /** Start of the newest attempt. */
  servedAt: number;
  /** Successful attempts of the last hour, the newest last; only for joined notices, which they delay. */
  taken: { kind: string; at: number }[];
}

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
): Lane<T> {
  const owners = new Map<string, Owner<T>>();
  let active = 0;
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Returns the time at which a notice of this owner may be sent. */
  function dueAt(owner: Owner<T>, kind: string): number {
    const ofKind = owner.taken.findLast((each) => each.kind === kind)?.at ?? -JOIN_MS;
    const ofHour = owner.taken.at(-perHour)?.at ?? -HOUR_MS;
    return Math.max(ofKind + JOIN_MS, ofHour + HOUR_MS);
  }

  function forget(): void {
    const since = Date.now() - HOUR_MS;
    for (const [key, owner] of owners) {
      owner.taken = owner.taken.filter(({ at }) => at > since);
      if (owner.waiting.length === 0 && owner.servedAt <= since) owners.delete(key);
    }
  }

  /** Refuses the newest notice of the owner with the most, if that owner has more than the new notice's owner would. */
  function makeRoom(own: number): boolean {
    const [most] = [...owners.values()].sort((a, b) => b.waiting.length - a.waiting.length);
    if (most === undefined || most.waiting.length <= own + 1) return false;
    most.waiting.pop()?.end(busy(0));
    return true;
  }

  /**
   * Sends notices of the tenant, and within it the owner, served longest ago. So an owner with many notices
   * waits behind one with few.
   */
  function pump(): void {
    clearTimeout(timer);
    while (active < atOnce) {
      const now = Date.now();
      const tenants = new Map<string, number>();
      for (const { tenant, servedAt } of owners.values()) {
        tenants.set(tenant, Math.max(tenants.get(tenant) ?? -1, servedAt));
      }
      const servedAt = ({ tenant }: Owner<T>): number => tenants.get(tenant) ?? -1;
      const all = [...owners.values()].flatMap((owner) =>
        owner.waiting.map((entry) => ({ owner, entry, at: dueAt(owner, entry.kind) })),
      );
      const [first] = all
        .filter(({ at }) => Math.max(next, at) <= now)
        // The sort is stable, so of owners that were never served the first goes first.
        .sort(({ owner: a }, { owner: b }) => servedAt(a) - servedAt(b) || a.servedAt - b.servedAt);
      if (first === undefined) {
        const at = Math.max(next, Math.min(...all.map((each) => each.at)));
        if (all.length > 0) timer = setTimeout(pump, at - now);
        return;
      }
      const { owner, entry } = first;
      const isJoined = (each: Entry<T>): boolean =>
        owner.joins ? each.kind === entry.kind : each === entry;
      const chosen = owner.waiting.filter(isJoined);
      owner.waiting = owner.waiting.filter((each) => !isJoined(each));
      void begin(owner, entry.kind, chosen);
    }
  }

  async function begin(owner: Owner<T>, kind: string, chosen: Entry<T>[]): Promise<void> {
    active += 1;
    owner.servedAt = Date.now();
    next = owner.servedAt + paceMs;
    forget();
    try {
      const left = await send(chosen.map(({ item }) => item));
      if (owner.joins) owner.taken.push({ kind, at: Date.now() });
      for (const [nth, { end }] of chosen.entries()) end(left[nth]);
    } catch (error) {
      for (const { end } of chosen) end(error as Error);
    }
    active -= 1;
    pump();
  }

  return (item, { tenant, owner: name, kind }, signal) =>
    new Promise((resolve, reject) => {
      const key = JSON.stringify([tenant, name]);
      const owner = owners.get(key) ?? {
        tenant,
        joins: joins && name !== undefined,
        waiting: [],
        servedAt: -1,
        taken: [],
      };
      const own = owner.waiting.length;
      const waitMs = dueAt(owner, kind) - Date.now();
      if (own >= mostOfOwner) throw busy(Math.max(waitMs, 0));
      // Its retry comes in time to be joined with notices that arrive until then.
      if (waitMs > JOIN_MS) throw busy(waitMs - JOIN_MS);
      const all = [...owners.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
      if (all >= MAX_WAITING && !makeRoom(own)) throw busy(0);
      const entry: Entry<T> = {
        kind,
        item,
        end: (error) => {
          signal?.removeEventListener('abort', giveUp);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const giveUp = (): void => {
        const at = owner.waiting.indexOf(entry);
        if (at < 0) return;
        owner.waiting.splice(at, 1);
        entry.end(signal?.reason as Error);
        pump();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      owners.set(key, owner);
      owner.waiting.push(entry);
      pump();
    });
}

function busy(leastMs: number): NotDelivered {
  const retryAfterMs = leastMs + 5_000 + Math.round(Math.random() * 10_000);
  return new NotDelivered('busy', 'Too much is being sent to this receiver.', { retryAfterMs });
}
