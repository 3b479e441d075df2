import { LIMITS } from '../../protocol/limits.js';
import type { RedisConnection } from './clients.js';
import { commandsOf } from './commands.js';
import type { FileStore } from '../contract/files.js';
import type { AuditSettings, RedisContext } from './context.js';
import { createRedisFileStore } from './file-store.js';
import { createKeySpace, DEFAULT_PREFIX } from './keys.js';
import {
  corkWrites,
  createEvaluate,
  createUnanswered,
  sendCounted,
  sendOnce,
  waitOutRefusals,
  type Unanswered,
} from './send.js';
import { rightsFor } from './rights.js';
import { createWriteIf } from '../../store/redis/write-if.js';
import { createConversations, type Expiry } from './conversations.js';
import { toKeptMs, type AuditTtl } from '../record/audit-ttl.js';

export interface RedisStoreOptions {
  /** Prefix of all keys. Default `hx`. */
  prefix?: string;
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: forever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /**
   * Keys that sign the entries of the audit trail, of at least 32 characters each: the first signs,
   * each verifies. All processes need them. Default: entries are chained, but not signed.
   */
  auditKeys?: readonly string[];
  /** How long entries of the audit trail are kept, seconds, or a function of the tenant. Default 0: forever. */
  auditTtlSeconds?: AuditTtl;
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

const STREAM_TTL_SECONDS = 24 * 60 * 60;

/** How long ended streams and sessions are kept. */
export function toExpiry(options: RedisStoreOptions): Expiry {
  const { streamTtlSeconds, sessionTtlSeconds, maxChunks } = options;
  return {
    streamTtlSeconds: streamTtlSeconds ?? STREAM_TTL_SECONDS,
    sessionTtlSeconds: sessionTtlSeconds ?? 0,
    maxChunks: maxChunks ?? LIMITS.streamEntries,
  };
}

/** @throws Error for a key that could be guessed */
export function toAuditSettings({
  auditKeys = [],
  auditTtlSeconds = 0,
}: Pick<RedisStoreOptions, 'auditKeys' | 'auditTtlSeconds'>): AuditSettings {
  if (auditKeys.some((key) => key.length < SHORTEST_KEY)) {
    throw new Error(`auditKeys: a key has at least ${String(SHORTEST_KEY)} characters.`);
  }
  return { keys: auditKeys, keptMs: toKeptMs(auditTtlSeconds) };
}
const SHORTEST_KEY = 32;

/** A context on a connection. */
export interface RedisConnectionContext extends RedisContext {
  unanswered: Unanswered;
}

/** Keys, scripts and limits on one connection. */
export function createContext(
  redis: RedisConnection,
  options: RedisStoreOptions = {},
  { retriesRefusals = false, reads = redis, connected }: ContextOptions = {},
): RedisConnectionContext {
  const keys = createKeySpace(options.prefix);
  const unanswered = createUnanswered();
  const repeat = retriesRefusals ? waitOutRefusals(() => redis.status === 'end') : sendOnce;
  const send = sendCounted(repeat, unanswered, connected);
  const rights = rightsFor(keys);
  const evaluate = createEvaluate(redis, { send, rights });
  const evaluateLarge = createEvaluate(reads, { send, rights });
  return {
    data: nameData(redis, options.prefix),
    redis: commandsOf(redis, send),
    reads: commandsOf(reads, send),
    keys,
    evaluate,
    ...createConversations({ evaluate, evaluateLarge }, keys, toExpiry(options)),
    writeIf: createWriteIf(evaluate),
    unanswered,
    now: Date.now,
    audit: toAuditSettings(options),
    keepsFilesElsewhere: options.files !== undefined,
    fileStore: options.files ?? createRedisFileStore(reads, keys, send),
    corkWrites: corkWrites(redis),
  };
}

/** Servers have several addresses, so only database and prefix are compared. */
function nameData(redis: RedisConnection, prefix = DEFAULT_PREFIX): string {
  const { db = 0, keyPrefix = '' } = redis.options as { db?: number; keyPrefix?: string };
  return `Redis, database ${String(db)}, prefix ${keyPrefix}${prefix}`;
}
