import { untilWritten, type Check, type Write } from './write-if.js';
import { createQueues } from '../change.js';
import { COUNTED, NO_COUNTS, type OwnerCounts } from '../contract/owners.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { Charged, Standing } from './charged.js';
import type { RedisContext } from './context.js';
import { addUsage, usedBy } from './usage.js';

/** One session's share of its owner's sums. */
type Entry = Omit<Standing, 'updated'>;

function parseEntry(stored: string | null): Entry | undefined {
  if (stored === null) return undefined;
  const [created, version, bytes, queued, runs, ...spent] = stored.split(' ');
  return {
    created: Number(created),
    version: Number(version),
    bytes: Number(bytes),
    queued: Number(queued),
    runs: Number(runs),
    spent: spent.join(' '),
  };
}

function formatEntry({ created, version, bytes, queued, runs, spent }: Entry): string {
  return [created, version, bytes, queued, runs, ...(spent === '' ? [] : [spent])].join(' ');
}

export function createCharge({
  redis,
  keys,
  writeIf,
  now,
}: Pick<RedisContext, 'redis' | 'keys' | 'writeIf' | 'now'>) {
  /** Charges of one slot queue up in this process, so only processes compete. */
  const queued = createQueues();
  /**
   * Updates an owner's charge for a session. Charges may arrive late, twice or not at all: they carry totals, not
   * differences, and the higher version wins.
   *
   * @param anyway even over a later one: a store restored from a backup may hold less than it did then
   * @param title of the conversation, if it has none yet
   * @returns `stale`: a later charge came first · `unknown`: the session was not charged
   */
  return (
    sessionId: string,
    owner: SessionOwner,
    charged: Charged | undefined,
    { anyway = false, title = '' }: { anyway?: boolean; title?: string | undefined } = {},
  ) => {
    const at = keys.owner(owner);
    const used = usedBy(at, charged, now());
    const attempt = () =>
      untilWritten(async () => {
        const [stored, ofUser, ofTenant, usedBefore] = await Promise.all([
          redis.hget(at.entries, sessionId),
          redis.hget(at.usage, 'sessions'),
          redis.hget(at.tenant, 'sessions'),
          used === undefined ? null : redis.hget(used.key, used.by),
        ]);
        const before = parseEntry(stored);
        if (charged === undefined && before === undefined) return 'unknown';
        if (charged !== undefined && !anyway && isOlder(charged.standing, before)) return 'stale';
        const checks: Check[] = [[stored ?? '', 'HGET', at.entries, sessionId]];
        const writes: Write[] = [];
        const change = differenceOf(before, charged?.standing);
        for (const [key, sessions] of [
          [at.usage, ofUser],
          [at.tenant, ofTenant],
        ] as const) {
          if (change.sessions < 0) checks.push([sessions ?? '', 'HGET', key, 'sessions']);
          if (change.sessions < 0 && Number(sessions) === 1) {
            // A user without sessions leaves no key.
            writes.push(['UNLINK', key]);
            continue;
          }
          for (const what of COUNTED) {
            if (change[what] !== 0) writes.push(['HINCRBY', key, what, change[what]]);
          }
        }
        if (charged === undefined) {
          writes.push(['HDEL', at.entries, sessionId], ['HDEL', at.titles, sessionId]);
          writes.push(['ZREM', at.sessions, sessionId], ['ZREM', at.work, sessionId]);
        } else {
          const { standing } = charged;
          writes.push(['HSET', at.entries, sessionId, formatEntry(standing)]);
          if (standing.created > 0) {
            writes.push(['ZADD', at.sessions, -standing.updated, sessionId]);
            if (title !== '') writes.push(['HSETNX', at.titles, sessionId, title]);
          }
          if (standing.runs === 1) writes.push(['ZADD', at.work, standing.updated, sessionId]);
          else writes.push(['ZREM', at.work, sessionId]);
          if (used !== undefined && standing.spent !== (before?.spent ?? '')) {
            checks.push([usedBefore ?? '', 'HGET', used.key, used.by]);
            writes.push(
              ...addUsage(used, usedBefore, { now: standing.spent, before: before?.spent ?? '' }),
            );
          }
        }
        // A charge may free an owner's memory.
        if (!(await writeIf(checks, writes, { isFreeing: true }))) return undefined;
        if (charged === undefined) return 'removed';
        return before === undefined || before.created === 0 ? 'added' : 'charged';
      });
    return queued(at.base, attempt);
  };
}

/** Returns true if a later charge is stored. A session created later under the same id is newer. */
function isOlder({ created, version }: Standing, before: Entry | undefined): boolean {
  if (before === undefined) return false;
  return created === before.created ? version < before.version : created < before.created;
}

function differenceOf(before: Entry | undefined, after: Entry | undefined): OwnerCounts {
  const [old, next] = [countsOf(before), countsOf(after)];
  return {
    runs: next.runs - old.runs,
    queued: next.queued - old.queued,
    sessions: next.sessions - old.sessions,
    bytes: next.bytes - old.bytes,
  };
}

/** Returns what a session counts for, by its stored entry. */
export function countsIn(stored: string | null): OwnerCounts {
  return countsOf(parseEntry(stored));
}

function countsOf(entry: Entry | undefined): OwnerCounts {
  if (entry === undefined) return NO_COUNTS;
  const { runs, queued, bytes } = entry;
  return { runs, queued, bytes, sessions: 1 };
}
