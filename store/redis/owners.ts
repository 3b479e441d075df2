import { rootOf } from '../../protocol/ids.js';
import { COUNTED, type OwnerCounts, type Owners } from '../contract/owners.js';
import type { Session } from '../../session/tree.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { titleOf } from '../record/conversation-title.js';
import { CHARGED, chargedOf, countsIn, createCharge, type Charged } from './charge.js';
import type { RedisContext } from './context.js';
import { formatOwner, isSame, parseOwner } from './keys.js';
import { nextInOrder, readListPage, type ScoredMember } from './scored-list.js';

/** Up to this many sessions are checked for ended runs that still count. */
const MAX_AT_WORK = 100;
/** Interval between repairs of an owner's conversations. */
const REPAIR_MS = 60 * 60 * 1000;
const REPAIR_PAGE = 100;
/** A search reads the titles of this many entries at once. */
const SEARCHED = 100;
/** Number of rows searched for the title of a conversation without one. */
const TITLE_ROWS = 5;

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

  async function readCounts(key: string): Promise<OwnerCounts> {
    const values = await redis.hmget(key, ...COUNTED);
    const counts = COUNTED.map((what, at) => [what, Number(values[at] ?? 0)]);
    return Object.fromEntries(counts) as Record<(typeof COUNTED)[number], number>;
  }

  async function titlesOf(titles: string, ids: readonly string[]): Promise<string[]> {
    const stored = await redis.hmget(titles, ...ids);
    return Promise.all(
      ids.map(async (id, at) => stored[at] ?? titleOf(await readRows(id, 0, TITLE_ROWS))),
    );
  }

  /** Returns the conversation, or removes one from the list that no longer exists. */
  async function listedOf(owner: SessionOwner, sessionId: string, title: string) {
    const charged = await read(sessionId);
    if (charged !== undefined && isSame(charged.owner, owner)) {
      const { agent, status, figures } = charged;
      return [{ sessionId, title, agent, status, updatedAt: figures.updated }];
    }
    await fold(sessionId, owner);
    return [];
  }

  return {
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
    counts: async (owner, sessionId) => {
      const { entries, usage, tenant: sums } = keys.owner(owner);
      const [stored, user, tenant] = await Promise.all([
        redis.hget(entries, sessionId),
        readCounts(usage),
        readCounts(sums),
      ]);
      return { user, tenant, session: countsIn(stored) };
    },
    refresh: async (owner) => {
      const { work } = keys.owner(owner);
      const ids = await redis.zrangebyscore(work, '-inf', '+inf', 'LIMIT', 0, MAX_AT_WORK);
      await Promise.all(ids.map((sessionId) => fold(sessionId, owner)));
    },
    page: async (owner, { limit, cursor, search = '' }) => {
      const { sessions, titles } = keys.owner(owner);
      const wanted = search.toLowerCase();
      const list = {
        limit,
        cursor,
        atOnce: search === '' ? undefined : SEARCHED,
        sign: -1,
      } as const;
      const { items, ...page } = await readListPage(redis, sessions, list, async (listed, room) => {
        const found = await titlesOf(
          titles,
          listed.map(({ member }) => member),
        );
        const matches = listed.flatMap((entry, at) => {
          const title = found[at] ?? '';
          return title.toLowerCase().includes(wanted) ? [{ entry, title }] : [];
        });
        const taken = matches.slice(0, room);
        const read = taken.map(({ entry, title }) => listedOf(owner, entry.member, title));
        const last = taken.length < matches.length ? taken.at(-1)?.entry : listed.at(-1);
        return { items: (await Promise.all(read)).flat(), last };
      });
      return { conversations: items, ...page };
    },
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
