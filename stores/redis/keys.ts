/**
 * Redis keys. All keys of a session carry the same hash tag, so that they live in one cluster slot
 * and one script may touch them all.
 */
export interface SessionKeys {
  root: string;
  stream: string;
  rows: string;
  calls: string;
  order: string;
  writers: string;
  messages: string;
  channel: string;
  stop: string;
  /** Every key, in the order in which lua/lib/session.lua expects them. */
  all: string[];
}

export function sessionKeys(sessionId: string): SessionKeys {
  const key = (name: string): string => `hx:{${sessionId}}:${name}`;
  const all = [
    key('root'),
    key('stream'),
    key('rows'),
    key('calls'),
    key('order'),
    key('busy'),
    key('writers'),
    key('messages'),
    key('runs'),
    key('checkpoints'),
    key('settled'),
    key('channel'),
    key('stop'),
  ];
  return {
    root: key('root'),
    stream: key('stream'),
    rows: key('rows'),
    calls: key('calls'),
    order: key('order'),
    writers: key('writers'),
    messages: key('messages'),
    channel: key('channel'),
    stop: key('stop'),
    all,
  };
}

/** What lua/append.lua expects; apart from the others, since it is asked for with every token. */
export function appendKeys(sessionId: string): string[] {
  const prefix = `hx:{${sessionId}}:`;
  return [`${prefix}root`, `${prefix}stream`, `${prefix}writers`, `${prefix}channel`];
}

/** Sessions whose run may need attention, by the time at which they are looked at next. */
export const ACTIVE_INDEX = 'hx:active';
/** Who sweeps. */
export const SWEEP_LEASE = 'hx:sweeper';
