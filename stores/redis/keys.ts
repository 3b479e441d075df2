import { childPartOf, rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../record/checked-ids.js';
import type { SessionOwner } from '../contract/waiting.js';

/** Order in which lua/lib/session.lua expects the keys; the last two are channels and hold nothing. */
const NAMES = [
  'root',
  'stream',
  'rows',
  'calls',
  'order',
  'busy',
  'writers',
  'messages',
  'runs',
  'checkpoints',
  'settled',
  'results',
  'states',
  'staged',
  'notices',
  'children',
  'owners',
  'queue',
  'channel',
  'stop',
] as const;
/** What a sub-agent's session shares with that of its conversation. */
const SHARED: ReadonlySet<string> = new Set<(typeof NAMES)[number]>([
  'stream',
  'results',
  'children',
  'owners',
  'channel',
  'stop',
]);
export type KeyName = (typeof NAMES)[number];

/** `all`: what the scripts expect, the session's keys and those of its conversation. */
export type SessionKeys = Record<KeyName, string> & { all: string[] };

/** Names of keys under one prefix. @throws HelixError `validation_error` for an id that is none */
export interface KeySpace {
  /**
   * Keys of a session. They carry the hash tag of the root session, so that a session and its
   * sub-agents live in one cluster slot and one script may touch them all.
   */
  session: (sessionId: string) => SessionKeys;
  /** What lua/append.lua expects; apart from the others, since it is asked for with every token. */
  append: (sessionId: string) => string[];
  channel: (sessionId: string) => string;
  /** Sessions whose run may need attention, by the time at which they are looked at next. */
  activeIndex: string;
  /** Who sweeps. */
  sweepLease: string;
  /** An owner's sessions that asked something, by the time of it. */
  waitingIndex: (owner: SessionOwner) => string;
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
      const names = NAMES.map((name) => (SHARED.has(name) ? common : own) + name);
      const byName = Object.fromEntries(NAMES.map((name, at) => [name, names[at]]));
      const all = [...names, ...NAMES.map((name) => common + name)];
      return { ...(byName as Record<KeyName, string>), all };
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
    activeIndex: `${prefix}:active`,
    sweepLease: `${prefix}:sweeper`,
    // Escaped, so that no owner's name reads like another's with a tenant, nor like a hash tag.
    waitingIndex: ({ owner, tenant = '' }) =>
      `${prefix}:waiting:${encodeURIComponent(tenant)}:${encodeURIComponent(owner)}`,
  };
}
