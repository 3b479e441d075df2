import { rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../checked-ids.js';

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
  'channel',
  'stop',
] as const;
export type KeyName = (typeof NAMES)[number];

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
}

export const DEFAULT_PREFIX = 'hx';

export function createKeySpace(prefix: string = DEFAULT_PREFIX): KeySpace {
  const base = (sessionId: string): string => {
    checkStreamId(sessionId);
    const root = rootOf(sessionId);
    const own = root === sessionId ? '' : `${sessionId.slice(root.length + 1)}:`;
    return `${prefix}:{${root}}:${own}`;
  };
  return {
    session: (sessionId) => {
      const start = base(sessionId);
      const all = NAMES.map((name) => start + name);
      const byName = Object.fromEntries(NAMES.map((name, at) => [name, all[at]]));
      return { ...(byName as Record<KeyName, string>), all };
    },
    append: (sessionId) => {
      const start = base(sessionId);
      return [`${start}root`, `${start}stream`, `${start}writers`, `${start}channel`];
    },
    channel: (sessionId) => `${base(sessionId)}channel`,
    activeIndex: `${prefix}:active`,
    sweepLease: `${prefix}:sweeper`,
  };
}
