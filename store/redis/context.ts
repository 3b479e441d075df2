import { randomBytes } from 'node:crypto';
import { LIMITS } from '../../protocol/limits.js';
import { createChange, type Change, type Look } from '../change.js';
import { createBackend } from './backend.js';
import type { Evaluate } from './scripts.js';
import { createWriteIf, type WriteIf } from './write-if.js';
import type { FileStore } from '../contract/files.js';
import type { LeaseThread } from '../contract/leases.js';
import type { RedisConnection } from './clients.js';
import { commandsOf, type Commands } from './commands.js';
import { createRedisFileStore } from './file-store.js';
import { createKeySpace, DEFAULT_PREFIX, type KeySpace } from './keys.js';
import { rightsFor } from './rights.js';
import {
  corkWrites,
  createEvaluate,
  createUnanswered,
  sendCounted,
  sendOnce,
  waitOutRefusals,
  type Unanswered,
} from './send.js';

/**
 * How long entries of the audit trail are kept, seconds: the same for all tenants, or by tenant. 0: no limit;
 * so are undefined, NaN, infinity and what is negative.
 */
export type AuditTtl = number | ((tenant: string | undefined) => number);

/** The same in ms; `''` stands for those without a tenant. */
export function toKeptMs(ttl: AuditTtl): (tenant: string) => number {
  const read = typeof ttl === 'function' ? ttl : () => ttl;
  return (tenant) => {
    const seconds = read(tenant === '' ? undefined : tenant);
    // A function without an answer for a tenant must not cost the trail: a wrong one keeps all, too.
    return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
  };
}

/** How long what is stored is kept. */
export interface Expiry {
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: forever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /** How long entries of the audit trail are kept, seconds, or a function of the tenant. Default 0: forever. */
  auditTtlSeconds?: AuditTtl;
}

export interface RedisStoreOptions extends Expiry {
  /** Prefix of all keys. Default `hx`. */
  prefix?: string;
  /**
   * Keys that sign the entries of the audit trail, of at least 32 characters each: the first signs,
   * each verifies. All processes need them. Default: entries are chained, but not signed.
   */
  auditKeys?: readonly string[];
  /** Where the bytes of files are. Default: in this Redis. All processes need the same. */
  files?: FileStore;
}

export interface ContextOptions {
  /** True: commands are retried while Redis temporarily refuses them. */
  retriesRefusals?: boolean;
  /** Connection for large reads. Default: the same. */
  reads?: RedisConnection;
  /** Commands before the first connection wait for this; later ones do not. Default: none waits. */
  connected?: Promise<void>;
}

/** What all parts of the store share that work on one Redis, or on one in-process keyspace. */
export interface RedisContext {
  /** What tells this data from other data, see `joinParts`. */
  data: unknown;
  redis: Commands;
  /** For what may be large: apart from the one above, where the start of a run would wait behind it. */
  reads: Commands;
  keys: KeySpace;
  /** Runs scripts of the store. */
  evaluate: Evaluate;
  change: Change;
  look: Look;
  /** Changes of what is in other slots than conversations. */
  writeIf: WriteIf;
  /** Clock of this process, ms since the epoch; deadlines use the clock of the store. */
  now: () => number;
  /** How another thread opens the leases; absent if it cannot. */
  leaseThread?: LeaseThread;
  /** Of the audit trail: keys of signatures, and how long entries of a tenant are kept, ms; 0: no limit. */
  audit: { keys: readonly string[]; keptMs: (tenant: string) => number };
  /** Where the bytes of files are. */
  fileStore: FileStore;
  /** It is outside this store, which cannot expire what it holds. */
  keepsFilesElsewhere: boolean;
  /** Sends everything written in the current turn of the event loop together. */
  corkWrites: () => void;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

/** Changes of conversations. @param evaluateLarge on the connection for large reads */
export function createConversations(
  { evaluate, evaluateLarge = evaluate }: { evaluate: Evaluate; evaluateLarge?: Evaluate },
  { prefix }: Pick<KeySpace, 'prefix'>,
  {
    streamTtlSeconds = STREAM_TTL_SECONDS,
    sessionTtlSeconds = 0,
    maxChunks = LIMITS.streamEntries,
  }: Expiry = {},
): Pick<RedisContext, 'change' | 'look'> {
  const keep = {
    streamMs: streamTtlSeconds * 1000,
    sessionMs: sessionTtlSeconds * 1000,
    entries: maxChunks,
  };
  const newVersion = (): string => randomBytes(9).toString('base64url');
  return createChange(createBackend({ evaluate, evaluateLarge, prefix, keep, newVersion }));
}

/** What is the same on a Redis and in memory. */
export function completeContext(
  own: Omit<RedisContext, 'change' | 'look' | 'writeIf' | 'audit'> & { evaluateLarge?: Evaluate },
  { auditKeys = [], auditTtlSeconds = 0, ...expiry }: Pick<RedisStoreOptions, 'auditKeys'> & Expiry,
): RedisContext {
  return {
    ...own,
    ...createConversations(own, own.keys, expiry),
    writeIf: createWriteIf(own.evaluate),
    audit: { keys: auditKeys, keptMs: toKeptMs(auditTtlSeconds) },
  };
}

const SHORTEST_KEY = 32;

/** Keys, scripts and limits on one connection. @throws Error for a key of signatures that could be guessed */
export function createContext(
  redis: RedisConnection,
  options: RedisStoreOptions = {},
  { retriesRefusals = false, reads = redis, connected }: ContextOptions = {},
): RedisContext & { unanswered: Unanswered } {
  if (options.auditKeys?.some((key) => key.length < SHORTEST_KEY) === true) {
    throw new Error(`auditKeys: a key has at least ${String(SHORTEST_KEY)} characters.`);
  }
  const keys = createKeySpace(options.prefix);
  const unanswered = createUnanswered();
  const repeat = retriesRefusals ? waitOutRefusals(() => redis.status === 'end') : sendOnce;
  const send = sendCounted(repeat, unanswered, connected);
  const rights = rightsFor(keys);
  const own = {
    data: nameData(redis, options.prefix),
    redis: commandsOf(redis, send),
    reads: commandsOf(reads, send),
    keys,
    evaluate: createEvaluate(redis, { send, rights }),
    evaluateLarge: createEvaluate(reads, { send, rights }),
    now: Date.now,
    keepsFilesElsewhere: options.files !== undefined,
    fileStore: options.files ?? createRedisFileStore(reads, keys, send),
    corkWrites: corkWrites(redis),
  };
  return { ...completeContext(own, options), unanswered };
}

/** Servers have several addresses, so only database and prefix are compared. */
function nameData(redis: RedisConnection, prefix = DEFAULT_PREFIX): string {
  const { db = 0, keyPrefix = '' } = redis.options as { db?: number; keyPrefix?: string };
  return `Redis, database ${String(db)}, prefix ${keyPrefix}${prefix}`;
}
