import { NotDelivered } from './not-delivered.js';

/** What waits for a receiver's turn. */
export interface Waiting {
  tenant: string;
  /** Whose conversation it is about, within the tenant. Absent: nobody's, which goes at once. */
  owner?: string | undefined;
  /** Those of one owner and kind go together. */
  kind: string;
}

/** How much one receiver takes in one process. */
export interface LaneLimits {
  /** Attempts at once. */
  atOnce: number;
  /** Of one owner that wait; more are sent back. */
  waiting: number;
  /** Least time between the beginnings of two attempts, ms. */
  paceMs: number;
  /** What one owner's conversations ask within a minute goes as one: for receivers that people read. */
  joins: boolean;
  /** Attempts in an hour for one owner; what exceeds them waits, and is joined as well. */
  perHour: number;
}

/** What a lane has done in the last hour; times in ms. */
export interface Sent {
  /** When the newest attempt for a tenant, or an owner, began. */
  turns: ReadonlyMap<string, number>;
  /** What was taken for an owner, of each kind and of all together; the newest last. */
  taken: ReadonlyMap<string, readonly number[]>;
}

/** Of all owners that wait for one receiver; whoever has most is sent back first. */
const MOST_WAITING = 60;
const JOIN_MS = 60_000;
const HOUR_MS = 60 * 60_000;

/** When something for this owner may be sent next. Pure. */
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
 * Which of those that wait, the first first, go next, and when: those of the tenant, and of its owner, who
 * were served longest ago, so that whoever asks much waits behind whoever asks little. Pure.
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
    // Sorting is stable: of equals the one that came first.
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

/** ms; the second calls later, unless what it returns is called before. */
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

/** Sends what waits in turns; resolves when it is sent. @throws NotDelivered `busy`, and what sending throws */
export type Lane<T> = (item: T, whose: Waiting, signal?: AbortSignal) => Promise<void>;

/**
 * The queue of one receiver. A receiver that hangs holds up neither the others nor the process, and nobody
 * who asks much holds up what others ask.
 *
 * @param send one attempt, of one item or of several that go together; it may return why single ones were
 * left out
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

  /** Sends the newest of the owner back who has most, if that is more than another one would have. */
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
      // It comes back in time to go with what is asked until then.
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
