import { setTimeout as pause } from 'node:timers/promises';
import { rootOf } from '../../protocol/ids.js';
import type {
  AdmitInput,
  AdmitResult,
  OwnerCounts,
  Owners,
  QuotaExceeded,
} from '../contract/owners.js';
import type { Session } from '../../session/tree.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { COUNTED, createCharge, NO_COUNTS, parseEntry } from './charge.js';
import { CHARGED, chargedOf, formatOwner, isSame, parseOwner, type Charged } from './charged.js';
import type { RedisContext } from './context.js';
import { createConversationPages } from './conversation-pages.js';
import { nextInOrder, type ScoredMember } from './scored-list.js';

/** Before a run is refused, up to this many sessions are checked for ended runs that still count. */
const MOST_AT_WORK = 100;
/** Interval between repairs of an owner's conversations. */
const REPAIR_MS = 60 * 60 * 1000;
const REPAIR_PAGE = 100;
/** A request that others hold up is refused after this long. */
const MOST_WAIT_MS = 5_000;

interface Counted {
  counts: OwnerCounts;
}

/** A reservation: the additions that a request of this process is about to make. */
interface Expected extends Counted {
  usage: string;
  tenant: string;
  sessionId: string;
  ended: Promise<void>;
}

function createEnd(): { ended: Promise<void>; end: () => void } {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end };
}

/**
 * Creates the figures of owners, each owner in its own slot. A session's changes cannot reach that slot, so the figures
 * follow afterwards, as of the session's latest read.
 */
export function createOwners(
  context: RedisContext,
  readRows: Sessions['rows'],
): Owners & { close: (sessionId: string) => Promise<SessionOwner | undefined> } {
  const { redis, keys, look, now } = context;
  const charge = createCharge(context);
  const expected = new Set<Expected>();

  const read = (sessionId: string): Promise<Charged | undefined> =>
    look(sessionId, (session) => chargedOf(session), { wants: CHARGED });

  const fold: Owners['fold'] = async (sessionId, owner, title) => {
    const id = rootOf(sessionId);
    const found = await read(id);
    const isOwner = found !== undefined && owner !== undefined && isSame(found.owner, owner);
    if (found !== undefined) {
      const kind = await charge(id, found.owner, found, { title: isOwner ? title : undefined });
      if (kind === 'added') {
        await noteOwner(found.owner);
        // An erasure meanwhile leaves nobody to charge.
        if ((await read(id)) === undefined) await charge(id, found.owner, undefined);
      }
    }
    if (owner !== undefined && !isOwner) await charge(id, owner, undefined);
  };

  async function repairSession(sessionId: string, owner: SessionOwner): Promise<void> {
    const uncounted = (await read(sessionId))?.uncounted;
    if (uncounted !== undefined) await recount(context, sessionId, uncounted);
    const found = await read(sessionId);
    if (found === undefined || !isSame(found.owner, owner)) {
      await charge(sessionId, owner, undefined);
      return;
    }
    if ((await charge(sessionId, owner, found)) !== 'stale') return;
    // Another charge was faster, or the store was restored from a backup and holds less.
    await charge(sessionId, owner, await read(sessionId), { anyway: true });
  }

  async function noteOwner(owner: SessionOwner): Promise<void> {
    await redis.zadd(keys.ownersIndex, 'NX', now() + REPAIR_MS, formatOwner(owner));
  }

  /** Removes runs that ended without a process charging their sessions. */
  async function refreshWork(owner: SessionOwner): Promise<void> {
    const { work } = keys.owner(owner);
    const ids = await redis.zrangebyscore(work, '-inf', '+inf', 'LIMIT', 0, MOST_AT_WORK);
    await Promise.all(ids.map((sessionId) => fold(sessionId, owner)));
  }

  async function readCounts(key: string): Promise<OwnerCounts> {
    return toCounts(await redis.hmget(key, ...COUNTED));
  }

  async function tryToAdmit(
    { sessionId, purpose, bytes, ...owner }: AdmitInput,
    limits: NonNullable<AdmitInput['limits']>,
  ): Promise<{ result: AdmitResult; others: Expected[] }> {
    const { entries, usage, tenant } = keys.owner(owner);
    const [stored, ofUser, ofTenant] = await Promise.all([
      redis.hget(entries, sessionId),
      readCounts(usage),
      readCounts(tenant),
    ]);
    const entry = parseEntry(stored);
    const others = [...expected].filter((each) => each.tenant === tenant);
    const ofOwner = others.filter((each) => each.usage === usage);
    const ofSession = sumOf(ofOwner.filter((each) => each.sessionId === sessionId));
    const isActive = entry?.runs === 1 || ofSession.runs > 0;
    const counts = {
      runs: purpose === 'copy' || isActive ? 0 : 1,
      queued: purpose === 'run' && isActive ? 1 : 0,
      sessions: entry === undefined && ofSession.sessions === 0 ? 1 : 0,
      // An owner at the limit gets nothing more, however small the request.
      bytes: Math.max(bytes, 1),
    };
    const exceededWith = (
      user: readonly Counted[],
      all: readonly Counted[],
    ): QuotaExceeded | undefined =>
      exceededBy(counts, 'user', sumOf([{ counts: ofUser }, ...user]), limits.user) ??
      exceededBy(counts, 'tenant', sumOf([{ counts: ofTenant }, ...all]), limits.tenant);
    const stays = exceededWith([], []);
    if (stays !== undefined) return { result: stays, others: [] };
    const result = exceededWith(ofOwner, others);
    if (result !== undefined) return { result, others };
    const own = { usage, tenant, sessionId, counts, ...createEnd() };
    expected.add(own);
    const done = (): void => {
      expected.delete(own);
      own.end();
    };
    return { result: { kind: 'admitted', done }, others };
  }

  async function admitIn({ limits, ...input }: AdmitInput): Promise<AdmitResult> {
    if (limits === undefined) return { kind: 'admitted', done: () => undefined };
    const leave = new AbortController();
    const patience = pause(MOST_WAIT_MS, undefined, { signal: leave.signal, ref: false }).then(
      () => 'over' as const,
      () => 'over' as const,
    );
    try {
      for (;;) {
        const { result, others } = await tryToAdmit(input, limits);
        if (result.kind === 'admitted' || others.length === 0) return result;
        // Additions of others count twice until they are done, and some of them begin nothing.
        const ended = await Promise.race([patience, ...others.map((each) => each.ended)]);
        if (ended === 'over') return result;
      }
    } finally {
      leave.abort();
    }
  }

  const readConversations = createConversationPages(context, { read, fold, readRows });

  return {
    admit: async (input) => {
      const result = await admitIn(input);
      if (result.kind === 'admitted' || result.what !== 'runs' || result.of !== 'user') {
        return result;
      }
      await refreshWork(input);
      return admitIn(input);
    },
    fold,
    /**
     * Charges a conversation right before its erasure, including its active run's usage so far. For a sub-agent's
     * session the conversation stays. Returns the owner; undefined if there is no conversation.
     */
    close: async (sessionId) => {
      const id = rootOf(sessionId);
      const isWhole = id === sessionId;
      const found = await look(id, (session) => chargedOf(session, isWhole), { wants: CHARGED });
      // A failed charge does not prevent the erasure.
      if (found !== undefined) await charge(id, found.owner, found).catch(() => undefined);
      return found?.owner;
    },
    usage: (owner) => readCounts(keys.owner(owner).usage),
    page: readConversations,
    take: async (limit, forMs) => {
      const due = await redis.zrangebyscore(keys.ownersIndex, '-inf', now(), 'LIMIT', 0, limit);
      if (due.length > 0) {
        const next = due.flatMap((owner) => [now() + forMs, owner]);
        await redis.zadd(keys.ownersIndex, 'XX', ...next);
      }
      return due.map(parseOwner);
    },
    repair: async (owner) => {
      const { sessions, unclaimed, usage } = keys.owner(owner);
      let last: ScoredMember | undefined;
      for (;;) {
        const page: ScoredMember[] = await nextInOrder(redis, sessions, last, REPAIR_PAGE);
        last = page.at(-1);
        if (last === undefined) break;
        // Sequentially: a single session may be as large as the owner's whole quota.
        for (const { member } of page) await repairSession(member, owner);
      }
      // These are expired files that no conversation has claimed.
      for (const sessionId of await redis.zrangebyscore(unclaimed, '-inf', now())) {
        await repairSession(sessionId, owner);
        await redis.zrem(unclaimed, sessionId);
      }
      if ((await redis.hget(usage, 'sessions')) === null) {
        await redis.zrem(keys.ownersIndex, formatOwner(owner));
      }
    },
  };
}

function toCounts(values: readonly (string | null)[]): OwnerCounts {
  const counts = { ...NO_COUNTS };
  COUNTED.forEach((what, at) => {
    counts[what] = Number(values[at] ?? 0);
  });
  return counts;
}

function sumOf(all: readonly Counted[]): OwnerCounts {
  const sum = { ...NO_COUNTS };
  for (const { counts } of all) for (const what of COUNTED) sum[what] += counts[what];
  return sum;
}

function exceededBy(
  counts: OwnerCounts,
  of: 'user' | 'tenant',
  inUse: OwnerCounts,
  limits: OwnerCounts,
): QuotaExceeded | undefined {
  const what = COUNTED.find(
    (each) => counts[each] > 0 && inUse[each] + counts[each] > limits[each],
  );
  if (what === undefined) return undefined;
  return { kind: 'exceeded', what, of, limit: limits[what], used: inUse[what] };
}

/** Number of rows per read. */
const ROWS_AT_ONCE = 200;

/**
 * Measures a session's stored texts and corrects its size, after a rewind that dropped very many rows.
 *
 * @param counted stored bytes that the record had before the measurement
 */
async function recount(
  { redis, keys, change }: Pick<RedisContext, 'redis' | 'keys' | 'change'>,
  sessionId: string,
  counted: number,
): Promise<void> {
  const { rows, results } = keys.session(sessionId);
  let found = 0;
  const add = (texts: readonly string[]): void => {
    for (const text of texts) found += Buffer.byteLength(text);
  };
  for (let from = 0; ; from += ROWS_AT_ONCE) {
    const page = await redis.lrange(rows, from, from + ROWS_AT_ONCE - 1);
    add(page);
    if (page.length < ROWS_AT_ONCE) break;
  }
  add(await redis.hvals(results));
  const correct = (session: Session): void => {
    const { record, content } = session;
    if (record?.agent === undefined) return;
    const queued = record.queue.flatMap(({ messages }) =>
      messages.map(({ id }) => content.get(`q:${id}`) ?? ''),
    );
    const states = record.state.kept.reduce((sum, [, bytes]) => sum + bytes, 0);
    const more = queued.reduce((sum, text) => sum + Buffer.byteLength(text), states);
    // Texts stored during the measurement stay counted.
    record.sizes.stored += found + more - counted;
    record.sizes.isComplete = true;
  };
  await change(sessionId, correct, {});
}
