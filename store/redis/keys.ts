import { childPartOf, rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../record/checked-ids.js';
import type { SessionOwner } from '../contract/waiting.js';

/** Keys of a session: its record, writers, what is found by id, content, ended runs and transcript. */
export const OWN_KEYS = ['root', 'writers', 'index', 'content', 'runs', 'rows'] as const;
/**
 * Keys of the conversation that its sub-agents' sessions share: the log, pages of it, large results, sessions of
 * sub-agents, and files; the last two name channels and hold nothing.
 */
export const SHARED_KEYS = [
  'stream',
  'joined',
  'results',
  'children',
  'files',
  'fileBytes',
  'channel',
  'stop',
] as const;
export type KeyName = (typeof SHARED_KEYS)[number] | (typeof OWN_KEYS)[number];

export type SessionKeys = Record<KeyName, string>;

/**
 * What is stored about the conversations of one user, in the slot of the tenant, or of the user if
 * there is no tenant.
 *
 * user: the user, escaped as in keys · tenant: hash, sums over all users of the slot · usage: hash, sums of this user ·
 * sessions: sorted set of sessions by negative time of the last change, so that the newest comes first · work: sorted
 * set of sessions with an active run · entries: hash by session, what each counts for · titles: hash by session · used:
 * prefix of a hash for each day, usage by agent and model · users: prefix of a hash for each day, the users with such a
 * hash · unclaimed: sorted set of conversations to which this user has added files before they began, by the time at
 * which those expire · spend: prefix of a hash for each day and month, the cost by user; `*` is all users of the slot.
 */
export type OwnerKeys = ReturnType<typeof ownerAt>;

/** Keys of a user in the slot with this prefix, which those of all its users have. */
export function ownerAt(base: string, user: string) {
  const own = `${base}${user}:`;
  return {
    base,
    user,
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

export const DEFAULT_PREFIX = 'hx';

export type KeySpace = ReturnType<typeof createKeySpace>;

/** Names of keys under one prefix. They throw HelixError `validation_error` for a malformed id of a session. */
export function createKeySpace(prefix: string = DEFAULT_PREFIX) {
  /** The hash tag of the root session: a session and its sub-agents are in one cluster slot, for one script. */
  const shared = (sessionId: string): string => `${prefix}:{${rootOf(sessionId)}}:`;
  const base = (sessionId: string): string => {
    checkStreamId(sessionId);
    const part = childPartOf(sessionId);
    return `${shared(sessionId)}${part === '' ? '' : `${part}:`}`;
  };
  return {
    prefix,
    session: (sessionId: string): SessionKeys => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      const names = [
        ...SHARED_KEYS.map((name) => [name, common + name] as const),
        ...OWN_KEYS.map((name) => [name, own + name] as const),
      ];
      return Object.fromEntries(names) as SessionKeys;
    },
    /** The keys of the script that appends; separate because they are needed for every token. */
    append: (sessionId: string): string[] => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      const conversation = ['root', 'stream', 'channel'].map((name) => common + name);
      return [`${own}root`, `${own}writers`, ...conversation];
    },
    channel: (sessionId: string) => {
      checkStreamId(sessionId);
      return `${shared(sessionId)}channel`;
    },
    /** Acts of a conversation that are yet to be relayed, in its slot. */
    outbox: (sessionId: string) => `${shared(sessionId)}audit`,
    /** Erasures of a conversation that are not complete, in its slot. */
    gone: (sessionId: string) => `${shared(sessionId)}gone`,
    /** Files of a conversation whose bytes another store keeps, in its slot. */
    elsewhere: (sessionId: string) => `${shared(sessionId)}elsewhere`,
    /**
     * Sessions of a fleet by the time of their next check, a list for those that are active or were noted and one for
     * those that were found waiting or idle; of one shard, which has a slot; and the lease of its sweeper.
     */
    due: (fleet: string, shard: number) => {
      const tag = `${prefix}:due:{${toKeyPart(fleet)}:${String(shard)}}`;
      return { urgent: `${tag}:urgent`, routine: `${tag}:routine`, lease: `${tag}:lease` };
    },
    /** For a fleet: the lease for querying closed workflows. */
    closed: (fleet: string) => `${prefix}:closed:{${toKeyPart(fleet)}}:lease`,
    /**
     * A worker's lease: the key that expires, the attempts registered under it, the right to judge it,
     * and what is noted about it.
     */
    lease: (namespace: string, holder: string) => {
      const tag = `${prefix}:lease:{${toKeyPart(namespace)}:${toKeyPart(holder)}}`;
      return {
        held: `${tag}:held`,
        work: `${tag}:work`,
        judge: `${tag}:judge`,
        about: `${tag}:about`,
      };
    },
    /**
     * Of a namespace: the holders of leases by the time of their last renewal, recent stops, and
     * whether a worker has died lately.
     */
    leases: (namespace: string) => {
      const holders = `${prefix}:leases:${toKeyPart(namespace)}`;
      return { holders, stops: `${holders}:stops`, died: `${holders}:died` };
    },
    /** Hash of the waiting list that each asking session is on. */
    askingIndex: `${prefix}:asking`,
    /** All asking sessions, by the time of their newest question. */
    askingSince: `${prefix}:asking:since`,
    /**
     * An owner's sessions that have asked people something, by time. Names are escaped, so that an owner's can neither
     * equal that of another owner in a tenant nor contain a hash tag.
     */
    waitingIndex: ({ owner, tenant = '' }: SessionOwner) =>
      `${prefix}:waiting:${toKeyPart(tenant)}:${toKeyPart(owner)}`,
    /** The same of all owners of a tenant, or of those without one. */
    tenantWaiting: (tenant = '') => `${prefix}:waiting-of:${toKeyPart(tenant)}`,
    /** That list, by the name of an owner's, whose escaped parts contain no colon. */
    tenantWaitingOf: (list: string) => `${prefix}:waiting-of:${list.split(':').at(-2) ?? ''}`,
    /** In one slot for all users of a tenant, or for a user without a tenant. */
    owner: ({ owner, tenant = '' }: SessionOwner): OwnerKeys => {
      const user = toKeyPart(owner);
      const tag = tenant === '' ? `u:${user}` : `t:${toKeyPart(tenant)}`;
      // A user's part begins with its own letter, so it never equals a key of the slot.
      return ownerAt(`${prefix}:owner:{${tag}}:`, `u:${user}`);
    },
    /** Owners by the time of their next repair. */
    ownersIndex: `${prefix}:owners`,
    /** Conversations of a person whose erasure is not complete. */
    erasing: ({ owner, tenant = '' }: SessionOwner) =>
      `${prefix}:erasing:${toKeyPart(tenant)}:${toKeyPart(owner)}`,
    /** What is remembered of a request that named itself. */
    request: (name: string) => `${prefix}:request:${name}`,
    /** Paused agents of a fleet, the lists of held runs by name, and each of those lists; in one slot. */
    pauses: (fleet: string) => {
      const tag = `${prefix}:pauses:{${toKeyPart(fleet)}}`;
      return { paused: tag, lists: `${tag}:lists`, held: (name: string) => `${tag}:held:${name}` };
    },
    /**
     * The audit trail of a tenant, or of all users without one, in one slot. head: hash, number and hash of the newest
     * entry, `from` those of the newest that was dropped, and up to which entry a fleet has passed them on · chain:
     * stream of entries by number · seen: sorted set of ids by time · people: hash of the keys of pseudonyms by user ·
     * names: hash of users by pseudonym · acted: sorted set of the pseudonyms of those who acted on what belongs to
     * others, by the time of the newest such act · sealed: hash of their users, which outlives an erasure · asked: hash
     * of what operators ask for that needs two of them, until when.
     */
    audit: (tenant: string) => {
      const tag = `${prefix}:audit:{t:${toKeyPart(tenant)}}`;
      return {
        head: `${tag}:head`,
        chain: `${tag}:chain`,
        seen: `${tag}:seen`,
        people: `${tag}:people`,
        names: `${tag}:names`,
        acted: `${tag}:acted`,
        sealed: `${tag}:sealed`,
        asked: `${tag}:asked`,
      };
    },
  };
}

/** Lone surrogates cannot be encoded. */
function toKeyPart(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}
