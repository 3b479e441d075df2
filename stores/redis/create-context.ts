import { LIMITS } from '../../protocol/limits.js';
import { FIRST_LAYOUT, RECORD_LAYOUT } from '../transitions/lib/layout.js';
import type { RedisConnection } from './clients.js';
import { commandsOf } from './commands-of.js';
import type { RedisContext } from './context.js';
import { gatherWrites } from './gather-writes.js';
import { createKeySpace } from './keys.js';
import { THIS_LIBRARY, type Library } from './library.js';
import { createProcesses, type Processes } from './processes.js';
import { createPruning } from './prune-libraries.js';
import { askOnce, waitOutRefusals, type Insist } from './refusals.js';
import { rightsFor } from './rights.js';
import { createRunLibrary, type RunLibrary } from './run-library.js';
import { createTransitions, type Expiry } from './transitions.js';
import { createUnanswered, type Unanswered } from './unanswered.js';

export interface RedisStoreOptions {
  /** Before all keys. Default `hx`. */
  prefix?: string;
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: for ever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /**
   * The highest layout of records to write. Default 1, since processes of release 0.2.0, which read
   * nothing else, cannot be seen; 2 once the last one of them has ended.
   */
  recordLayout?: number;
}

export interface ContextOptions {
  /** Of another release. */
  library?: Library;
  /** Of the records that this process reads. */
  layout?: number;
  /** Waits while Redis cannot serve. */
  isPatient?: boolean;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

/** How long what has ended is kept, unless the options say otherwise. */
export function toExpiry({ streamTtlSeconds, sessionTtlSeconds }: RedisStoreOptions): Expiry {
  return {
    streamTtlSeconds: streamTtlSeconds ?? STREAM_TTL_SECONDS,
    sessionTtlSeconds: sessionTtlSeconds ?? 0,
  };
}

/** A context on a connection, and the announcement of this process there. */
export interface RedisConnectionContext extends RedisContext {
  processes: Processes;
  unanswered: Unanswered;
}

/** Names, transitions and limits for one connection. */
export function createContext(
  redis: RedisConnection,
  options: RedisStoreOptions = {},
  { library = THIS_LIBRARY, layout = RECORD_LAYOUT, isPatient = false }: ContextOptions = {},
): RedisConnectionContext {
  const keys = createKeySpace(options.prefix);
  const unanswered = createUnanswered();
  const repeat = isPatient ? waitOutRefusals(() => redis.status === 'end') : askOnce;
  const insist: Insist = (work) => repeat(() => unanswered.during(work));
  const processes = createProcesses(redis, {
    key: keys.processes,
    library: library.hash,
    layout,
    writes: options.recordLayout ?? FIRST_LAYOUT,
    onRead: createPruning(redis),
  });
  const runLibrary = createRunLibrary(redis, { library, insist, rights: rightsFor(keys) });
  const announced: RunLibrary = (mode, ...given) => {
    processes.touch();
    return runLibrary(mode, ...given);
  };
  return {
    redis: commandsOf(redis, insist),
    keys,
    transitions: createTransitions(announced, keys, toExpiry(options), processes.layout),
    processes,
    unanswered,
    layout: processes.layout,
    maxEntries: options.maxChunks ?? LIMITS.streamEntries,
    now: Date.now,
    gatherWrites: () => {
      gatherWrites(redis);
    },
  };
}
