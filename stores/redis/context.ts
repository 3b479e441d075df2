import type { Commands } from './commands.js';
import type { KeySpace } from './keys.js';
import type { Transitions } from './transitions.js';

/** What everything that works on one Redis, or on a keyspace of this process, shares. */
export interface RedisContext {
  redis: Commands;
  keys: KeySpace;
  transitions: Transitions;
  /** The layout in which records are written now. */
  layout: () => number | Promise<number>;
  /** Entries of a stream before whole old turns are trimmed; 0: never. */
  maxEntries: number;
  /** Clock of this process, ms since the epoch; deadlines go by the store's. */
  now: () => number;
  /** Lets what this turn of the event loop writes go out together. */
  gatherWrites: () => void;
}
