import { EventEmitter } from 'node:events';
import { LIMITS } from '../../protocol/limits.js';
import type { MemorySession, StoreContext } from './session.js';

export interface MemoryOptions {
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: for ever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /** The store's clock, ms since the epoch. Default the machine's. */
  now?: () => number;
}

/** What a session store and a stream manager that belong together share. */
export interface MemoryData {
  readonly now: () => number;
  readonly limits: Omit<StoreContext, 'now'>;
  readonly sessions: Map<string, MemorySession>;
  /** Wakes the followers of streams and tells of stops. */
  readonly events: EventEmitter;
  /** Sessions whose run may need attention, by the time at which they are looked at next. */
  readonly due: Map<string, number>;
  /** Sessions that asked something, by the time of it; those that wait no more are dropped by who reads. */
  readonly asked: Map<string, number>;
  /** Until when somebody sweeps. */
  sweepLeaseUntil: number;
  /** When expired sessions were last looked for. */
  expiredAt: number;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

export function createMemoryData({
  streamTtlSeconds = STREAM_TTL_SECONDS,
  sessionTtlSeconds = 0,
  maxChunks = LIMITS.streamEntries,
  now = Date.now,
}: MemoryOptions = {}): MemoryData {
  return {
    now,
    limits: { streamTtlSeconds, sessionTtlSeconds, maxEntries: maxChunks },
    sessions: new Map(),
    // A stream has as many followers as there are viewers.
    events: new EventEmitter().setMaxListeners(0),
    due: new Map(),
    asked: new Map(),
    sweepLeaseUntil: 0,
    expiredAt: 0,
  };
}
