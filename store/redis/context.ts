import { LIMITS } from '../../protocol/limits.js';
import { createChange, type Change, type Look } from '../change.js';
import { createAtomic, type Atomic } from './atomic.js';
import { createBackend } from './backend.js';
import type { FileStore } from '../contract/files.js';
import type { LeaseThread } from '../contract/leases.js';
import type { RedisConnection } from './clients.js';
import { commandsOf, type Commands } from './commands.js';
import { createRedisFileStore } from './file-store.js';
import { createKeySpace, type KeySpace } from './keys.js';
import { rightsFor } from './rights.js';
import {
  corkWrites,
  createEvaluate,
  createUnanswered,
  sendCounted,
  sendOnce,
  waitOutRefusals,
  type Send,
  type Unanswered,
} from './send.js';

/**
 * Retention of audit entries, seconds, for all tenants or by tenant. 0 means no limit, as do undefined, NaN, infinite
 * and negative values.
 */
export type AuditTtl = number | ((tenant: string | undefined) => number);

/** Converts a retention to ms; `''` stands for users without a tenant. */
export function toKeptMs(ttl: AuditTtl): (tenant: string) => number {
  const read = typeof ttl === 'function' ? ttl : () => ttl;
  return (tenant) => {
    const seconds = read(tenant === '' ? undefined : tenant);
    // A function without an answer for a tenant must not cost the trail, so a wrong value keeps everything too.
    return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
  };
}

export interface Expiry {
  /** Retention of an ended run's stream, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** Retention of a session after its last run, seconds. Default 0: forever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /** Retention of audit entries, seconds, or a function of the tenant. Default 0: forever. */
  auditTtlSeconds?: AuditTtl;
}

export interface RedisStoreOptions extends Expiry {
  /** Prefix of all keys. Default `hx`. */
  prefix?: string;
  /**
   * Keys that sign the audit entries, each of at least 32 characters: the first signs, all verify. All processes need
   * them. Default: entries are chained, but not signed.
   */
  auditKeys?: readonly string[];
  /** Storage for the bytes of files, the same for all processes. Default: this Redis. */
  files?: FileStore;
}

export interface ContextOptions {
  retriesRefusals?: boolean;
  /** Connection for large reads. Default: the same. */
  reads?: RedisConnection;
  /** Commands before the first connection wait for this. Default: none waits. */
  connected?: Promise<void>;
}

/** State shared by all parts of a store on one Redis, or on one in-process keyspace. */
export interface RedisContext extends Omit<Atomic, 'load'> {
  /** Identifies this data, see `joinParts`. */
  data: unknown;
  redis: Commands;
  /** Connection for large reads, so that the start of a run does not wait behind them. */
  reads: Commands;
  keys: KeySpace;
  change: Change;
  look: Look;
  /** Clock of this process, ms since the epoch; deadlines use the clock of the store. */
  now: () => number;
  /** The means by which another thread opens the leases, if it can. */
  leaseThread?: LeaseThread;
  /** Signature keys of the audit trail, and a tenant's retention, ms; 0 means no limit. */
  audit: { keys: readonly string[]; keptMs: (tenant: string) => number };
  fileStore: FileStore;
  /** True if `fileStore` is a separate store, whose contents cannot expire with this one. */
  keepsFilesElsewhere: boolean;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

export function completeContext(
  own: Omit<RedisContext, 'change' | 'look' | 'audit'> & Atomic,
  {
    auditKeys = [],
    auditTtlSeconds = 0,
    streamTtlSeconds = STREAM_TTL_SECONDS,
    sessionTtlSeconds = 0,
    maxChunks = LIMITS.streamEntries,
  }: Omit<RedisStoreOptions, 'prefix' | 'files'>,
): RedisContext {
  const keep = {
    streamMs: streamTtlSeconds * 1000,
    sessionMs: sessionTtlSeconds * 1000,
    entries: maxChunks,
  };
  return {
    ...own,
    ...createChange(createBackend({ ...own, keep })),
    audit: { keys: auditKeys, keptMs: toKeptMs(auditTtlSeconds) },
  };
}

const MIN_KEY = 32;

/** Creates the context of one connection. @throws Error for a signature key that is too short */
export function createContext(
  redis: RedisConnection,
  options: RedisStoreOptions = {},
  { retriesRefusals = false, reads = redis, connected }: ContextOptions = {},
): RedisContext & { unanswered: Unanswered } {
  if (options.auditKeys?.some((key) => key.length < MIN_KEY) === true) {
    throw new Error(`auditKeys: a key has at least ${String(MIN_KEY)} characters.`);
  }
  const { db = 0, keyPrefix = '' } = redis.options as { db?: number; keyPrefix?: string };
  const keys = createKeySpace(options.prefix, db);
  const unanswered = createUnanswered();
  const repeat = retriesRefusals ? waitOutRefusals(() => redis.status === 'end') : sendOnce;
  const sendOn = (to: RedisConnection): Send =>
    sendCounted(repeat, unanswered, corkWrites(to), connected);
  const [send, sendRead] = [sendOn(redis), sendOn(reads)];
  const rights = rightsFor(keys);
  const own = {
    // Servers have several addresses, so only database and prefix are compared.
    data: `Redis, database ${String(db)}, prefix ${keyPrefix}${keys.prefix}`,
    redis: commandsOf(redis, send),
    reads: commandsOf(reads, sendRead),
    keys,
    ...createAtomic(createEvaluate(redis, send, rights), createEvaluate(reads, sendRead, rights)),
    now: Date.now,
    keepsFilesElsewhere: options.files !== undefined,
    fileStore: options.files ?? createRedisFileStore(reads, keys, sendRead),
  };
  return { ...completeContext(own, options), unanswered };
}
