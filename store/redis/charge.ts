import { isTerminal, type RunStatus } from '../../protocol/run.js';
import type { Want } from '../../session/fields.js';
import { filesOwner } from '../../session/files.js';
import { NOTHING, sumOf, type Usage } from '../../session/record.js';
import type { Session } from '../../session/tree.js';
import { createQueues } from '../change.js';
import { COUNTED, NO_COUNTS, type OwnerCounts } from '../contract/owners.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RedisContext } from './context.js';
import { toOwner, type OwnerKeys } from './keys.js';
import { untilWritten, type Check, type Write } from './write-if.js';

/** A session's figures, read at one moment. */
export interface Figures {
  /** 0 while the session has files but no message. */
  created: number;
  version: number;
  bytes: number;
  queued: number;
  /** 1 while its run is active. */
  runs: number;
  /** ms since the epoch. */
  updated: number;
  /** Usage of all ended runs: six numbers and the number of runs; '' without runs. */
  spent: string;
}

export const CHARGED: readonly Want[] = [
  ['field', 'files', '', 'bytes'],
  ['field', 'files', '', 'changes'],
  ['field', 'files', '', 'whose'],
  ['field', 'record', '', 'appended'],
  ['entryCount'],
];

export interface Charged {
  owner: SessionOwner;
  agent: string;
  model: string;
  status: RunStatus;
  figures: Figures;
  /** Stored bytes of a session that must be recounted. */
  uncounted?: number;
}

/**
 * Returns the owner's charge for a conversation; undefined if there is none. Files added before the first message are
 * charged to the one who added them.
 *
 * @param isClosing the session is about to be erased: its active run, with its active sub-agents' usage, counts as if
 * it ended now
 */
export function chargedOf(session: Session, isClosing = false): Charged | undefined {
  const { record, tree, files } = session;
  const [fileBytes, changes] = [files.get('bytes'), files.get('changes')];
  if (record?.agent === undefined) {
    const whose = filesOwner(session);
    if (whose === undefined) return undefined;
    const sizes = { version: Number(changes ?? 0), bytes: Number(fileBytes ?? 0) };
    return {
      agent: '',
      model: '',
      status: 'completed',
      owner: whose,
      figures: { ...sizes, created: 0, queued: 0, runs: 0, updated: 0, spent: '' },
    };
  }
  const { owner, tenant, run, stream, sizes } = record;
  const hasEnded = isTerminal(run.status);
  const isActive = stream !== 'paused' && !hasEnded;
  // This equals the addition at the end of a run.
  const isCut = isClosing && !hasEnded;
  const spent = isCut
    ? [...sumOf(record.spent, usedBelow(session)), record.runs + 1]
    : [...record.spent, record.runs];
  const hasLog = tree.log.count > 0;
  return {
    agent: record.agent,
    model: run.model ?? '',
    status: run.status,
    owner: toOwner(owner, tenant),
    ...(!sizes.isComplete && { uncounted: sizes.stored }),
    figures: {
      created: record.created,
      // None of these numbers ever decreases, and each change of a counted figure raises one of them.
      version: tree.log.sequence + run.n + Number(changes ?? 0),
      bytes:
        Math.max(0, sizes.stored) +
        (hasLog ? Math.max(0, tree.log.bytes) : 0) +
        Number(fileBytes ?? 0),
      queued: record.queue.length,
      runs: isActive ? 1 : 0,
      updated: Math.max(record.updated, session.appended),
      spent: record.runs > 0 || isCut ? spent.join(' ') : '',
    },
  };
}

/** Returns the usage of the newest run and its active sub-agents, whose usage otherwise counts only once they end. */
function usedBelow({ tree, existing, children }: Session): Usage {
  let used: Usage | undefined = existing.run.usage;
  for (const [part, run] of children.all()) {
    if (run !== existing.run.id) continue;
    const below = tree.session(part).record?.run;
    if (below !== undefined && !isTerminal(below.status)) used = sumOf(used, below.usage);
  }
  return used ?? NOTHING;
}

/** One session's share of its owner's sums. */
type Entry = Omit<Figures, 'updated'>;
/** Its numbers, in the order in which they are stored. */
const SHARE = ['created', 'version', 'bytes', 'queued', 'runs'] as const;

function parseEntry(stored: string | null): Entry | undefined {
  if (stored === null) return undefined;
  const words = stored.split(' ');
  const numbers = SHARE.map((name, at) => [name, Number(words[at])] as const);
  const spent = words.slice(SHARE.length).join(' ');
  return { ...(Object.fromEntries(numbers) as Omit<Entry, 'spent'>), spent };
}

function formatEntry(entry: Entry): string {
  return [...SHARE.map((name) => entry[name]), entry.spent].join(' ').trimEnd();
}

export function createCharge({ redis, keys, writeIf, now }: RedisContext) {
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
        if (charged !== undefined && !anyway && isOlder(charged.figures, before)) return 'stale';
        const sums = Object.entries({ [at.usage]: ofUser, [at.tenant]: ofTenant });
        const [old, next] = [countsOf(before), countsOf(charged?.figures)];
        const isLess = next.sessions < old.sessions;
        const checks: Check[] = [[stored ?? '', 'HGET', at.entries, sessionId]];
        if (isLess)
          for (const [key, sessions] of sums)
            checks.push([sessions ?? '', 'HGET', key, 'sessions']);
        const writes: Write[] = sums.flatMap(([key, sessions]) => {
          // A user without sessions leaves no key.
          const isLast = isLess && Number(sessions) === 1;
          return isLast ? [['UNLINK', key] as const] : changeSums(key, old, next);
        });
        writes.push(...enter(at, sessionId, charged?.figures, title));
        const spent = charged?.figures.spent;
        const counted = before?.spent ?? '';
        if (used !== undefined && spent !== undefined && spent !== counted) {
          checks.push([usedBefore ?? '', 'HGET', used.key, used.by]);
          writes.push(...addUsed(used, usedBefore, spent, counted));
        }
        // A charge may free an owner's memory.
        if (!(await writeIf(checks, writes, { isFreeing: true }))) return undefined;
        if (charged === undefined) return 'removed';
        return before === undefined || before.created === 0 ? 'added' : 'charged';
      });
    return queued(at.base, attempt);
  };
}

function changeSums(key: string, old: OwnerCounts, next: OwnerCounts): Write[] {
  return COUNTED.flatMap((what): Write[] => {
    const more = next[what] - old[what];
    return more === 0 ? [] : [['HINCRBY', key, what, more]];
  });
}

/** Enters a session in the owner's lists, or removes it if it has no figures. */
function enter(at: OwnerKeys, id: string, figures: Figures | undefined, title: string): Write[] {
  if (figures === undefined) {
    const fields = [at.entries, at.titles].map((key) => ['HDEL', key, id] as const);
    const members = [at.sessions, at.work].map((key) => ['ZREM', key, id] as const);
    return [...fields, ...members];
  }
  const { created, runs, updated } = figures;
  return [
    ['HSET', at.entries, id, formatEntry(figures)],
    runs === 1 ? ['ZADD', at.work, updated, id] : ['ZREM', at.work, id],
    ...(created > 0 ? [['ZADD', at.sessions, -updated, id] as const] : []),
    ...(created > 0 && title !== '' ? [['HSETNX', at.titles, id, title] as const] : []),
  ];
}

/** Returns true if a later charge is stored. A session created later under the same id is newer. */
function isOlder({ created, version }: Figures, before: Entry | undefined): boolean {
  if (before === undefined) return false;
  return created === before.created ? version < before.version : created < before.created;
}

export function countsIn(stored: string | null): OwnerCounts {
  return countsOf(parseEntry(stored));
}

function countsOf(entry: Entry | undefined): OwnerCounts {
  if (entry === undefined) return NO_COUNTS;
  const { runs, queued, bytes } = entry;
  return { runs, queued, bytes, sessions: 1 };
}

/** Retention of a day's sums, enough for a report of a year. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000;
/** Retention of spending; budgets need only the current day and month. */
const SPEND_MS = 40 * 24 * 60 * 60 * 1000;
/** Field with the cost of all users of a slot; a user's own field is escaped and cannot equal it. */
export const ALL = '*';
const COST = 5;

/** Returns the sums, by agent and model, to which a session's usage belongs now; undefined if it has ended no run. */
function usedBy(owner: OwnerKeys, charged: Charged | undefined, now: number) {
  if (charged === undefined || charged.figures.spent === '') return undefined;
  const day = toDay(now);
  return { owner, day, key: owner.used + day, by: JSON.stringify([charged.agent, charged.model]) };
}

/**
 * Adds a session's usage since the last charge to the sums of a day. A session's usage only grows, so the next charge
 * adds what an earlier one missed, and nothing is added twice.
 *
 * @param stored the sum of that agent and model
 */
function addUsed(
  { owner, day, key, by }: NonNullable<ReturnType<typeof usedBy>>,
  stored: string | null,
  spent: string,
  counted: string,
): Write[] {
  const before = counted.split(' ').map(Number);
  const more = spent.split(' ').map((n, at) => Math.max(0, Number(n) - (before[at] ?? 0)));
  const cost = more[COST] ?? 0;
  const periods = cost === 0 ? [] : [day, toMonth(day)];
  return [
    ['HSET', key, by, addTo(stored, more)],
    ['HSET', owner.users + day, owner.user, '1'],
    ['PEXPIRE', key, KEPT_MS],
    ['PEXPIRE', owner.users + day, KEPT_MS],
    ...periods.flatMap((period): Write[] => [
      ['HINCRBY', owner.spend + period, owner.user, cost],
      ['HINCRBY', owner.spend + period, ALL, cost],
      ['PEXPIRE', owner.spend + period, SPEND_MS],
    ]),
  ];
}

/** Adds numbers to a stored sum, one by one. */
export function addTo(stored: string | null, more: readonly number[]): string {
  const before = (stored ?? '').split(' ').map(Number);
  return more.map((n, at) => n + (before[at] ?? 0)).join(' ');
}

/** Formats a day, UTC, as `20261130`. */
export function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}

export function toMonth(day: string): string {
  return day.slice(0, 6);
}
