import { rootOf } from '../../protocol/ids.js';
import type { Conversation, OwnerCounts, Owners, ReserveInput } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { titleOf } from '../record/conversation-title.js';
import { formatCursor, parseCursor } from '../record/list-cursor.js';
import type { Standing } from '../transitions/fold.js';
import { COUNTED } from '../transitions/lib/owner.js';
import { formatOwner, isSame, parseOwner, STANDING, toCharged, type Charged } from './charged.js';
import type { RedisContext } from './context.js';
import { reach } from './errors.js';
import { recount } from './recount.js';
import { nextInOrder, type ScoredMember } from './scored-list.js';

/** A request that has not reached its session by then has died, or changed its mind. */
const HOLD_MS = 10_000;
/** Before a run is refused, ended runs that still count are looked for among so many. */
const MOST_AT_WORK = 100;
/** Each owner's conversations are looked through this often. */
const REPAIR_MS = 60 * 60 * 1000;
const REPAIR_PAGE = 100;
/** Entries that are looked at for one page: the list is cleaned as it is read. */
const MOST_LOOKS = 500;
/** Rows in which a title is looked for, of a conversation that has none. */
const TITLE_ROWS = 5;

export interface OwnersIndex extends Owners {
  /** Whose a session is; undefined once it is gone. */
  ownerOf: (sessionId: string) => Promise<SessionOwner | undefined>;
}

/**
 * What owners have, each in a slot of its own: no transition of a session reaches it, so it follows
 * behind, and says of each session how it was when it was read last.
 */
export function createOwners(context: RedisContext, readRows: Sessions['rows']): OwnersIndex {
  const { redis, keys, transitions, now } = context;

  async function read(sessionId: string): Promise<Charged | undefined> {
    const { root, stream } = keys.session(sessionId);
    const [values, entries] = (await reach(
      redis.together((reads) => {
        reads.hmget(root, ...STANDING).xlen(stream);
      }),
    )) as [(string | null)[], number];
    return toCharged(values, entries > 0);
  }

  async function charge(
    sessionId: string,
    owner: SessionOwner,
    standing: Standing | undefined,
    anyway = false,
  ): Promise<boolean> {
    const how = { ...(standing && { standing }), ...(anyway && { anyway }) };
    const { kind } = await transitions.runOfOwner('fold', owner, { sessionId, ...how });
    if (kind === 'added') await noteOwner(owner);
    return kind !== 'stale';
  }

  const fold: Owners['fold'] = async (sessionId, reserved) => {
    const id = rootOf(sessionId);
    const found = await read(id);
    if (found !== undefined) await charge(id, found.owner, found.standing);
    if (reserved !== undefined && (found === undefined || !isSame(found.owner, reserved))) {
      await charge(id, reserved, undefined);
    }
  };

  async function repairSession(sessionId: string, owner: SessionOwner): Promise<void> {
    const uncounted = (await read(sessionId))?.uncounted;
    if (uncounted !== undefined) await recount(context, sessionId, uncounted);
    const found = await read(sessionId);
    if (found === undefined || !isSame(found.owner, owner)) {
      await charge(sessionId, owner, undefined);
      return;
    }
    if (await charge(sessionId, owner, found.standing)) return;
    // Overtaken by a fold, or by what a store that was restored has lost.
    await charge(sessionId, owner, (await read(sessionId))?.standing, true);
  }

  async function noteOwner(owner: SessionOwner): Promise<void> {
    await reach(redis.zadd(keys.ownersIndex, 'NX', now() + REPAIR_MS, formatOwner(owner)));
  }

  /** Takes out runs that ended without a process that folded their sessions. */
  async function refreshWork(owner: SessionOwner): Promise<void> {
    const { work } = keys.owner(owner);
    const ids = await reach(redis.zrangebyscore(work, '-inf', '+inf', 'LIMIT', 0, MOST_AT_WORK));
    await Promise.all(ids.map((sessionId) => fold(sessionId, owner)));
  }

  function tryToReserve({ owner, tenant, title, limits, ...input }: ReserveInput) {
    const whose = { owner, ...(tenant !== undefined && { tenant }) };
    const { forMs = HOLD_MS, sessionId, purpose, bytes } = input;
    const request = { sessionId, purpose, bytes, forMs, ...limits };
    return transitions.runOfOwner('reserve', whose, request, title);
  }

  async function titlesOf(owner: SessionOwner, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const stored = await reach(redis.hmget(keys.owner(owner).titles, ...ids));
    return Promise.all(
      ids.map(async (id, at) => stored[at] ?? titleOf(await readRows(id, 0, TITLE_ROWS))),
    );
  }

  return {
    reserve: async (input) => {
      const result = await tryToReserve(input);
      if (result.kind === 'reserved' || result.what !== 'runs' || result.of !== 'user') {
        return result;
      }
      await refreshWork(input);
      return tryToReserve(input);
    },
    fold,
    ownerOf: async (sessionId) => (await read(rootOf(sessionId)))?.owner,
    usage: async (owner) => {
      const values = await reach(redis.hmget(keys.owner(owner).usage, ...COUNTED));
      const counts = COUNTED.map((what, at) => [what, Number(values[at] ?? 0)]);
      return Object.fromEntries(counts) as OwnerCounts;
    },
    page: async (owner, { limit, cursor }) => {
      const { sessions } = keys.owner(owner);
      const start = cursor === undefined ? undefined : parseCursor(cursor);
      let last = start && { member: start.sessionId, score: -start.at };
      const found: Omit<Conversation, 'title'>[] = [];
      for (let looks = 0; found.length < limit && looks < MOST_LOOKS;) {
        const listed = await nextInOrder(redis, sessions, last, limit - found.length);
        if (listed.length === 0) break;
        looks += listed.length;
        last = listed.at(-1);
        found.push(...(await Promise.all(listed.map((entry) => look(owner, entry)))).flat());
      }
      const ids = found.map(({ sessionId }) => sessionId);
      const titles = await titlesOf(owner, ids);
      const isLast = (await nextInOrder(redis, sessions, last, 1)).length === 0;
      return {
        conversations: found.map((each, at) => ({ ...each, title: titles[at] ?? '' })),
        ...(last &&
          !isLast && { cursor: formatCursor({ sessionId: last.member, at: -last.score }) }),
      };
    },
    take: async (limit, forMs) => {
      const due = await reach(
        redis.zrangebyscore(keys.ownersIndex, '-inf', now(), 'LIMIT', 0, limit),
      );
      if (due.length > 0) {
        const next = due.flatMap((owner) => [now() + forMs, owner]);
        await reach(redis.zadd(keys.ownersIndex, 'XX', ...next));
      }
      return due.map(parseOwner);
    },
    repair: async (owner) => {
      const { sessions } = keys.owner(owner);
      let last: ScoredMember | undefined;
      for (;;) {
        const page: ScoredMember[] = await nextInOrder(redis, sessions, last, REPAIR_PAGE);
        last = page.at(-1);
        if (last === undefined) break;
        // One after another: each may be as large as all that an owner may store.
        for (const { member } of page) await repairSession(member, owner);
      }
      const left = await reach(redis.hmget(keys.owner(owner).usage, 'sessions'));
      if (left[0] == null) await reach(redis.zrem(keys.ownersIndex, formatOwner(owner)));
    },
  };

  /** Nothing for a session that is gone, which is taken off the list. */
  async function look(
    owner: SessionOwner,
    { member: sessionId }: ScoredMember,
  ): Promise<Omit<Conversation, 'title'>[]> {
    const found = await read(sessionId);
    if (found === undefined || !isSame(found.owner, owner)) {
      await fold(sessionId, owner);
      return [];
    }
    const { agent, status, standing } = found;
    return [{ sessionId, agent, status, updatedAt: standing.updated }];
  }
}
