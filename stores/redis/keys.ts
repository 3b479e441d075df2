import { childPartOf, rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../record/checked-ids.js';
import { OWN_KEYS, SHARED_KEYS } from '../transitions/lib/session.js';
import type { SessionOwner } from '../contract/waiting.js';
import { ownerAt, type Owner } from '../transitions/lib/owner.js';

export type KeyName = (typeof SHARED_KEYS)[number] | (typeof OWN_KEYS)[number];

/** `all`: what transitions expect, the conversation's keys and those of a sub-agent's session. */
export type SessionKeys = Record<KeyName, string> & { all: string[] };

/** Lists of sessions by the time at which they are looked at next. */
export interface DueKeys {
  /** At work, or noted since something may have got lost. */
  urgent: string;
  /** Found waiting, or at rest. */
  routine: string;
}

/** Names of keys under one prefix. @throws HelixError `validation_error` for an id that is none */
export interface KeySpace {
  /**
   * Keys of a session. They carry the hash tag of the root session, so that a session and its
   * sub-agents live in one cluster slot and one script may touch them all.
   */
  session: (sessionId: string) => SessionKeys;
  /** What transitions/append expects; apart from the others, since it is asked for with every token. */
  append: (sessionId: string) => string[];
  channel: (sessionId: string) => string;
  /**
   * Sessions of a fleet whose run may need attention, by the time at which they are looked at next:
   * the lists of one shard, which share a slot, and who sweeps it.
   */
  due: (fleet: string, shard: number) => DueKeys & { lease: string };
  /** Of a fleet: when its closed workflows were asked for, and who asks. */
  closed: (fleet: string) => { at: string; lease: string };
  /** The list of release 0.2.0: of all fleets, in one piece. */
  olderDue: string;
  /** On which list each session is that asked something. */
  askingIndex: string;
  /** Processes that use these keys, by the time until which they are known to be alive. */
  processes: string;
  /** An owner's sessions that asked something, by the time of it. */
  waitingIndex: (owner: SessionOwner) => string;
  /** What an owner has: in one slot for all users of a tenant, or for a user who has no tenant. */
  owner: (owner: SessionOwner) => Owner;
  /** Owners by the time at which their conversations are looked through next. */
  ownersIndex: string;
}

export const DEFAULT_PREFIX = 'hx';

export function createKeySpace(prefix: string = DEFAULT_PREFIX): KeySpace {
  const base = (sessionId: string): string => {
    checkStreamId(sessionId);
    const part = childPartOf(sessionId);
    return `${shared(sessionId)}${part === '' ? '' : `${part}:`}`;
  };
  const shared = (sessionId: string): string => `${prefix}:{${rootOf(sessionId)}}:`;
  return {
    session: (sessionId) => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      const names = [
        ...SHARED_KEYS.map((name) => [name, common + name] as const),
        ...OWN_KEYS.map((name) => [name, own + name] as const),
      ];
      const all = [...SHARED_KEYS, ...OWN_KEYS].map((name) => common + name);
      if (own !== common) all.push(...OWN_KEYS.map((name) => own + name));
      return { ...(Object.fromEntries(names) as Record<KeyName, string>), all };
    },
    append: (sessionId) => {
      const [own, common] = [base(sessionId), shared(sessionId)];
      return [
        `${own}root`,
        `${common}stream`,
        `${own}writers`,
        `${common}channel`,
        `${common}root`,
      ];
    },
    channel: (sessionId) => {
      checkStreamId(sessionId);
      return `${shared(sessionId)}channel`;
    },
    due: (fleet, shard) => {
      const tag = `${prefix}:due:{${toKeyPart(fleet)}:${String(shard)}}`;
      return { urgent: `${tag}:urgent`, routine: `${tag}:routine`, lease: `${tag}:lease` };
    },
    closed: (fleet) => {
      const tag = `${prefix}:closed:{${toKeyPart(fleet)}}`;
      return { at: `${tag}:at`, lease: `${tag}:lease` };
    },
    olderDue: `${prefix}:active`,
    askingIndex: `${prefix}:asking`,
    processes: `${prefix}:processes`,
    // Escaped, so that no owner's name reads like another's with a tenant, nor like a hash tag.
    waitingIndex: ({ owner, tenant = '' }) =>
      `${prefix}:waiting:${toKeyPart(tenant)}:${toKeyPart(owner)}`,
    owner: ({ owner, tenant = '' }) => {
      const user = toKeyPart(owner);
      const tag = tenant === '' ? `u:${user}` : `t:${toKeyPart(tenant)}`;
      // A user's part begins with a letter of its own, so none is called like a key of the slot.
      return ownerAt(`${prefix}:owner:{${tag}}:`, `u:${user}`);
    },
    ownersIndex: `${prefix}:owners`,
  };
}

/** Half a character has no encoding. */
function toKeyPart(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}
