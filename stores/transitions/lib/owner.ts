import { formatInt, redis, toNumber } from './host.js';
import { num } from './request.js';

/**
 * What is stored about the conversations of one user, in the slot of the tenant, or of the user if
 * there is no tenant.
 *
 * holds: sorted set of reservations `<user>/<session>` by expiry time · tenant: hash, sums over all
 * users of the slot · usage: hash, sums of this user · sessions: sorted set of sessions by negative
 * time of the last change, so that the newest comes first · work: sorted set of sessions with an
 * active run · entries: hash by session, see Entry · titles: hash by session · used: prefix of a hash
 * for each day, usage by agent and model · users: prefix of a hash for each day, the users with such a
 * hash · unclaimed: sorted set of conversations to which this user has added files before they began, by the
 * time at which those expire · spend: prefix of a hash for each day and month, the cost by user; `*` is all users of the slot.
 */
export interface Owner {
  /** Prefix of the keys of all users in the slot. */
  base: string;
  /** The user, escaped as in keys. */
  user: string;
  holds: string;
  tenant: string;
  usage: string;
  sessions: string;
  work: string;
  entries: string;
  titles: string;
  used: string;
  users: string;
  spend: string;
  unclaimed: string;
}

/** What is counted: the fields of `usage`, and the names of limits. */
export const COUNTED = ['runs', 'queued', 'sessions', 'bytes'] as const;
export type Counted = (typeof COUNTED)[number];
export type Counts = Record<Counted, number>;

/**
 * What one session counts for. Held amounts are reserved until the session is folded or the
 * reservation expires.
 */
export interface Entry {
  /** When the session was created; 0 while only a reservation exists. */
  created: number;
  /**
   * Increases with each change of the session; of two folds the one with the higher version stays.
   */
  version: number;
  bytes: number;
  queued: number;
  /** 1 while its run is active. */
  runs: number;
  heldBytes: number;
  heldQueued: number;
  heldRuns: number;
  /** Usage of its ended runs that is in the owner's sums, see lib/usage; '' for none. */
  spent: string;
}

/** Numbers of a stored entry before those of `spent`. */
const HELD = 8;

/** Keys of a user; `base` and `user` are derived from the one key that is passed in. */
export function ownerAt(base: string, user: string): Owner {
  const own = `${base}${user}:`;
  return {
    base,
    user,
    holds: `${base}holds`,
    tenant: `${base}tenant`,
    usage: `${own}usage`,
    sessions: `${own}sessions`,
    work: `${own}work`,
    entries: `${own}entries`,
    titles: `${own}titles`,
    used: `${own}used:`,
    users: `${base}users:`,
    spend: `${base}spend:`,
    unclaimed: `${own}unclaimed`,
  };
}

export function readEntry({ entries }: Owner, sessionId: string): Entry | undefined {
  const stored = redis.call('HGET', entries, sessionId);
  if (stored === false) return undefined;
  const numbers = stored.split(' ');
  const [created, version, bytes, queued, runs, heldBytes, heldQueued, heldRuns] = numbers;
  return {
    created: num(created),
    version: num(version),
    bytes: num(bytes),
    queued: num(queued),
    runs: num(runs),
    heldBytes: num(heldBytes),
    heldQueued: num(heldQueued),
    heldRuns: num(heldRuns),
    spent: numbers.slice(HELD).join(' '),
  };
}

/** Replaces an entry and updates the sums. */
export function writeEntry(owner: Owner, sessionId: string, after: Entry): void {
  const before = readEntry(owner, sessionId);
  const numbers = [after.created, after.version, after.bytes, after.queued, after.runs];
  numbers.push(after.heldBytes, after.heldQueued, after.heldRuns);
  const texts: string[] = [];
  for (const number of numbers) texts.push(formatInt(number));
  if (after.spent !== '') texts.push(after.spent);
  redis.call('HSET', owner.entries, sessionId, texts.join(' '));
  addUp(owner, countsOf(before), countsOf(after));
}

/** Removes everything stored about a session; true if there was anything. */
export function removeEntry(owner: Owner, sessionId: string): boolean {
  const before = readEntry(owner, sessionId);
  redis.call('ZREM', owner.holds, holdOf(owner, sessionId));
  redis.call('ZREM', owner.sessions, sessionId);
  redis.call('ZREM', owner.work, sessionId);
  redis.call('HDEL', owner.titles, sessionId);
  if (before === undefined) return false;
  redis.call('HDEL', owner.entries, sessionId);
  addUp(owner, countsOf(before), countsOf(undefined));
  return true;
}

export function readCounts(key: string): Counts {
  const stored = redis.call('HMGET', key, ...COUNTED);
  const counts = { runs: 0, queued: 0, sessions: 0, bytes: 0 };
  for (let at = 0; at < COUNTED.length; at += 1) {
    const value = stored[at] as string | false;
    if (value !== false) counts[COUNTED[at] as Counted] = toNumber(value);
  }
  return counts;
}

/** The member of `holds` for a session of this user. */
export function holdOf({ user }: Owner, sessionId: string): string {
  return `${user}/${sessionId}`;
}

/** Maximum number of expired reservations that one request clears. */
const MOST_CLEARED = 100;

/** Releases expired reservations of all users in the slot. */
export function clearExpired({ base, holds }: Owner, now: number): void {
  const expired = redis.call(
    'ZRANGEBYSCORE',
    holds,
    '-inf',
    formatInt(now),
    'LIMIT',
    '0',
    formatInt(MOST_CLEARED),
  );
  for (const hold of expired) {
    const slash = hold.indexOf('/');
    giveBack(ownerAt(base, hold.slice(0, slash)), hold.slice(slash + 1));
    redis.call('ZREM', holds, hold);
  }
}

function giveBack(owner: Owner, sessionId: string): void {
  const entry = readEntry(owner, sessionId);
  if (entry === undefined) return;
  if (entry.created === 0) {
    removeEntry(owner, sessionId);
    return;
  }
  writeEntry(owner, sessionId, withoutHold(entry));
}

export function withoutHold({ created, version, bytes, queued, runs, spent }: Entry): Entry {
  return { created, version, bytes, queued, runs, heldBytes: 0, heldQueued: 0, heldRuns: 0, spent };
}

function countsOf(entry: Entry | undefined): Counts {
  if (entry === undefined) return { runs: 0, queued: 0, sessions: 0, bytes: 0 };
  return {
    runs: Math.max(entry.runs, entry.heldRuns),
    queued: entry.queued + entry.heldQueued,
    sessions: 1,
    bytes: entry.bytes + entry.heldBytes,
  };
}

function addUp({ usage, tenant }: Owner, before: Counts, after: Counts): void {
  for (const what of COUNTED) {
    const change = after[what] - before[what];
    if (change !== 0) {
      redis.call('HINCRBY', usage, what, formatInt(change));
      redis.call('HINCRBY', tenant, what, formatInt(change));
    }
  }
  // Deletes the keys of a user who has erased everything.
  if (after.sessions < before.sessions) {
    if (readCounts(usage).sessions === 0) redis.call('UNLINK', usage);
    if (readCounts(tenant).sessions === 0) redis.call('UNLINK', tenant);
  }
}
