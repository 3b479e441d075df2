import { rootOf } from '../../protocol/ids.js';
import type { OwnerCounts, Owners, ReserveInput } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { COUNTED } from '../transitions/lib/owner.js';
import { chargedOf, formatOwner, isSame, parseOwner, type Charged } from './charged.js';
import type { RedisContext } from './context.js';
import { createConversationPages } from './conversation-pages.js';
import { callRedis } from './errors.js';
import { recount } from './recount.js';
import { toUsedBy } from './used-by.js';
import { nextInOrder, type ScoredMember } from './scored-list.js';

/** A reservation expires after this time: its request has died or was refused elsewhere. */
const HOLD_MS = 10_000;
/**
 * Before a run is refused, up to this many sessions are checked for ended runs that still count.
 */
const MOST_AT_WORK = 100;
/** The conversations of each owner are repaired this often. */
const REPAIR_MS = 60 * 60 * 1000;
const REPAIR_PAGE = 100;

export interface OwnersIndex extends Owners {
  /**
   * Counts a conversation that is erased right after this, with what its active run has used so far.
   * For a sub-agent's session the conversation stays. The owner; undefined if there is no conversation.
   */
  close: (sessionId: string) => Promise<SessionOwner | undefined>;
}

/**
 * Figures of owners, each owner in its own slot. The transitions of a session cannot reach that
 * slot, so the figures follow afterwards, each as the session was when last read.
 */
export function createOwners(context: RedisContext, readRows: Sessions['rows']): OwnersIndex {
  const { redis, keys, transitions, change, now } = context;

  const read = (sessionId: string): Promise<Charged | undefined> =>
    change(sessionId, (session) => chargedOf(session));

  async function charge(
    sessionId: string,
    owner: SessionOwner,
    charged: Charged | undefined,
    anyway = false,
  ): Promise<boolean> {
    const request = {
      sessionId,
      standing: charged?.standing,
      anyway,
      usedBy: toUsedBy(charged, now()),
    };
    const { kind } = await transitions.runOfOwner('fold', owner, request);
    if (kind === 'added') await noteOwner(owner);
    return kind !== 'stale';
  }

  const fold: Owners['fold'] = async (sessionId, reserved) => {
    const id = rootOf(sessionId);
    const found = await read(id);
    if (found !== undefined) await charge(id, found.owner, found);
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
    if (await charge(sessionId, owner, found)) return;
    // Overtaken by another fold, or the store was restored from a backup and holds less.
    await charge(sessionId, owner, await read(sessionId), true);
  }

  async function noteOwner(owner: SessionOwner): Promise<void> {
    await callRedis(redis.zadd(keys.ownersIndex, 'NX', now() + REPAIR_MS, formatOwner(owner)));
  }

  /** Removes runs that ended without a process folding their sessions. */
  async function refreshWork(owner: SessionOwner): Promise<void> {
    const { work } = keys.owner(owner);
    const ids = await callRedis(
      redis.zrangebyscore(work, '-inf', '+inf', 'LIMIT', 0, MOST_AT_WORK),
    );
    await Promise.all(ids.map((sessionId) => fold(sessionId, owner)));
  }

  function tryToReserve({ owner, tenant, title, limits, ...input }: ReserveInput) {
    const whose = { owner, tenant };
    const { forMs = HOLD_MS, sessionId, purpose, bytes } = input;
    const request = { sessionId, purpose, bytes, forMs, ...limits };
    return transitions.runOfOwner('reserve', whose, request, title);
  }

  const readConversations = createConversationPages(context, { read, fold, readRows });

  return {
    reserve: async (input) => {
      const result = await tryToReserve(input);
      if (result.kind === 'reserved' || result.what !== 'runs' || result.of !== 'user') {
        return result;
      }
      await refreshWork(input);
      return tryToReserve(input);
    },
    release: async ({ owner, tenant, sessionId, bytes }) => {
      await transitions.runOfOwner('release', { owner, tenant }, { sessionId, bytes });
    },
    fold,
    close: async (sessionId) => {
      const id = rootOf(sessionId);
      const isWhole = id === sessionId;
      const found = await change(id, (session) => chargedOf(session, isWhole));
      // What cannot be counted is erased all the same.
      if (found !== undefined) await charge(id, found.owner, found).catch(() => false);
      return found?.owner;
    },
    usage: async (owner) => {
      const values = await callRedis(redis.hmget(keys.owner(owner).usage, ...COUNTED));
      const counts = COUNTED.map((what, at) => [what, Number(values[at] ?? 0)]);
      return Object.fromEntries(counts) as OwnerCounts;
    },
    page: readConversations,
    take: async (limit, forMs) => {
      const due = await callRedis(
        redis.zrangebyscore(keys.ownersIndex, '-inf', now(), 'LIMIT', 0, limit),
      );
      if (due.length > 0) {
        const next = due.flatMap((owner) => [now() + forMs, owner]);
        await callRedis(redis.zadd(keys.ownersIndex, 'XX', ...next));
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
        // Sequentially: a single session may be as large as the owner's whole quota.
        for (const { member } of page) await repairSession(member, owner);
      }
      // Also drops reservations that have expired.
      await transitions.runOfOwner('release', owner, { sessionId: '', bytes: 0 });
      const left = await callRedis(redis.hmget(keys.owner(owner).usage, 'sessions'));
      if (left[0] == null) await callRedis(redis.zrem(keys.ownersIndex, formatOwner(owner)));
    },
  };
}
