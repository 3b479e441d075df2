import { childPartOf, rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../record/checked-ids.js';
import type { SessionOwner } from '../contract/waiting.js';

/** Keys of a session: record, writers, index, content, ended runs and transcript. */
export const OWN_KEYS = ['root', 'writers', 'index', 'content', 'runs', 'rows'] as const;
/** Keys shared by a conversation and its sub-agents. The last two are channels and hold nothing. */
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
 * Keys about the conversations of one user, in the slot of the tenant, or of the user if there is no tenant.
 *
 * user: the user, escaped as in keys · tenant: hash, sums over all users of the slot · usage: hash, sums of this user ·
 * sessions: sorted set of sessions by negative time of the last change, so that the newest comes first · work: sorted
 * set of sessions with an active run · entries: hash by session, each one's share of the sums · titles: hash by session
 * · used: prefix of a hash for each day, usage by agent and model · users: prefix of a hash for each day, the users
 * with such a hash · unclaimed: sorted set of conversations to which this user added files before they began, by expiry
 * time · spend: prefix of a hash for each day and month, the cost by user; `*` is all users of the slot.
 */
export type OwnerKeys = ReturnType<typeof ownerAt>;

export function ownerAt(base: string, user: string) {
  const own = `${base}${user}:`;
  return {
    base,
    user,
    tenant: `${base}tenant`,
    ...under(own, ['usage', 'sessions', 'work', 'entries', 'titles', 'unclaimed']),
    used: `${own}used:`,
    users: `${base}users:`,
    spend: `${base}spend:`,
  };
}

/** Returns keys by the names that follow the prefix. */
function under<Name extends string>(prefix: string, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, prefix + name])) as Record<Name, string>;
}

export const DEFAULT_PREFIX = 'hx';

export type KeySpace = ReturnType<typeof createKeySpace>;

/**
 * Creates the names of keys under one prefix. They throw HelixError `validation_error` for a malformed session id.
 *
 * @param database all databases of a server share its channels, so other ones than 0 are part of a channel's name
 */
export function createKeySpace(prefix: string = DEFAULT_PREFIX, database = 0) {
  const toChannel = (name: string): string =>
    database === 0 ? name : `${name}:${String(database)}`;
  const channels = { channel: toChannel('channel'), stop: toChannel('stop') };
  /** Returns the prefix with the hash tag of a session and its sub-agents: scripts need them in one slot. */
  const shared = (sessionId: string): string => `${prefix}:{${rootOf(sessionId)}}:`;
  const base = (sessionId: string): string => {
    checkStreamId(sessionId);
    const part = childPartOf(sessionId);
    return `${shared(sessionId)}${part === '' ? '' : `${part}:`}`;
  };
  return {
    prefix,
    channels,
    session: (sessionId: string): SessionKeys => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      const named = { ...under(common, SHARED_KEYS), ...under(own, OWN_KEYS) };
      return { ...named, channel: common + channels.channel, stop: common + channels.stop };
    },
    /** Keys of the append script; separate because every token needs them. */
    append: (sessionId: string): string[] => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      const conversation = ['root', 'stream', channels.channel].map((name) => common + name);
      return [`${own}root`, `${own}writers`, ...conversation];
    },
    /** Acts of a conversation that are not relayed yet, in its slot. */
    outbox: (sessionId: string) => `${shared(sessionId)}audit`,
    /** Incomplete erasures of a conversation, in its slot. */
    gone: (sessionId: string) => `${shared(sessionId)}gone`,
    /** Files of a conversation whose bytes a separate store keeps, in its slot. */
    elsewhere: (sessionId: string) => `${shared(sessionId)}elsewhere`,
    /**
     * One shard of a fleet's sessions by the time of their next check, in its own slot: `urgent` for active or noted
     * sessions, `routine` for those found waiting or idle, and the lease of the shard's sweeper.
     */
    due: (fleet: string, shard: number) => {
      const tag = `${prefix}:due:{${toKeyPart(fleet)}:${String(shard)}}:`;
      return under(tag, ['urgent', 'routine', 'lease']);
    },
    /** The lease of work that one process of a fleet does at a time. */
    work: (fleet: string, work: string) =>
      `${prefix}:work:{${toKeyPart(fleet)}}:${toKeyPart(work)}:lease`,
    /** A worker's lease: the key that expires, the registered attempts, the right to judge it, and notes about it. */
    lease: (namespace: string, holder: string) => {
      const tag = `${prefix}:lease:{${toKeyPart(namespace)}:${toKeyPart(holder)}}:`;
      return under(tag, ['held', 'work', 'judge', 'about']);
    },
    /** A namespace's lease holders by their last renewal, its recent stops, and a mark while a worker died lately. */
    leases: (namespace: string) => {
      const holders = `${prefix}:leases:${toKeyPart(namespace)}`;
      return { holders, stops: `${holders}:stops`, died: `${holders}:died` };
    },
    /** Hash of the owner's waiting list by asking session. */
    askingIndex: `${prefix}:asking`,
    /** All asking sessions, by the time of their newest question. */
    askingSince: `${prefix}:asking:since`,
    /**
     * An owner's sessions that asked people something, by time. Names are escaped, so an owner's key can neither equal
     * that of another owner in a tenant nor contain a hash tag.
     */
    waitingIndex: ({ owner, tenant = '' }: SessionOwner) =>
      `${prefix}:waiting:${toKeyPart(tenant)}:${toKeyPart(owner)}`,
    /** The waiting list of all owners of a tenant, or of those without one. */
    tenantWaiting: (tenant = '') => `${prefix}:waiting-of:${toKeyPart(tenant)}`,
    /** The tenant's list for an owner's list, whose escaped parts contain no colon. */
    tenantWaitingOf: (list: string) => `${prefix}:waiting-of:${list.split(':').at(-2) ?? ''}`,
    /** Keys of an owner, in one slot for all users of a tenant, or for a user without a tenant. */
    owner: ({ owner, tenant = '' }: SessionOwner): OwnerKeys => {
      const user = toKeyPart(owner);
      const tag = tenant === '' ? `u:${user}` : `t:${toKeyPart(tenant)}`;
      // A user's part begins with `u:`, so it never equals a key of the slot.
      return ownerAt(`${prefix}:owner:{${tag}}:`, `u:${user}`);
    },
    /** Owners by the time of their next repair. */
    ownersIndex: `${prefix}:owners`,
    /** A person's conversations whose erasure is not complete. */
    erasing: ({ owner, tenant = '' }: SessionOwner) =>
      `${prefix}:erasing:${toKeyPart(tenant)}:${toKeyPart(owner)}`,
    /** The memory of a request with an idempotency key. */
    request: (name: string) => `${prefix}:request:${name}`,
    /** A fleet's paused agents, the names of its lists of held runs, and each of those lists; in one slot. */
    pauses: (fleet: string) => {
      const tag = `${prefix}:pauses:{${toKeyPart(fleet)}}`;
      return { paused: tag, lists: `${tag}:lists`, held: (name: string) => `${tag}:held:${name}` };
    },
    /**
     * The audit trail of a tenant, or of all users without one, in one slot. head: hash, number and hash of the newest
     * entry, `from` those of the newest dropped one, and the entry up to which a fleet passed them on · chain: stream
     * of entries by number · seen: sorted set of ids by time · people: hash of the keys of pseudonyms by user · names:
     * hash of users by pseudonym · acted: sorted set of pseudonyms of people who acted on other people's data, by the
     * time of the newest such act · sealed: hash of their users, which outlives an erasure · asked: hash of operators'
     * requests that need two of them, with their ends.
     */
    audit: (tenant: string) => {
      const tag = `${prefix}:audit:{t:${toKeyPart(tenant)}}:`;
      return under(tag, ['head', 'chain', 'seen', 'people', 'names', 'acted', 'sealed', 'asked']);
    },
  };
}

/** Escapes a name; lone surrogates, which cannot be encoded, are replaced. */
export function toKeyPart(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

/** @param tenant '' for a user without a tenant */
export function toOwner(owner: string, tenant: string): SessionOwner {
  return { owner, ...(tenant !== '' && { tenant }) };
}

/** Returns an owner's member in the list of owners. */
export function formatOwner({ owner, tenant = '' }: SessionOwner): string {
  return JSON.stringify([tenant.toWellFormed(), owner.toWellFormed()]);
}

export function parseOwner(text: string): SessionOwner {
  const [tenant, owner] = JSON.parse(text) as [string, string];
  return toOwner(owner, tenant);
}

export function isSame(a: SessionOwner, b: SessionOwner): boolean {
  return formatOwner(a) === formatOwner(b);
}
