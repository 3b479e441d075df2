import { hasCode, toReason } from '../../protocol/errors.js';
import { withTimeout, type ClockReading } from '../../protocol/time.js';
import { closeClient, connectCommands, type RedisConnection } from './clients.js';
import { createContext, type RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { parseOwner } from './keys.js';
import { mastersOf } from './pulse.js';

export interface ServerInfo {
  version: string;
  /** A replica refuses writes. */
  isReplica: boolean;
  hasAppendOnlyFile: boolean;
  /** False if the last write to that file failed, for instance on a full disk. */
  isFileWritten: boolean;
  maxmemoryPolicy: string;
  /** Bytes; 0 means no limit. */
  maxmemory: number;
  usedMemory: number;
  evictedKeys: number;
}

function parseServerInfo(info: string): ServerInfo {
  const field = (name: string): string =>
    new RegExp(`^${name}:(.*)\\r?$`, 'm').exec(info)?.[1]?.trim() ?? '';
  return {
    version: field('redis_version'),
    isReplica: field('role') === 'slave',
    hasAppendOnlyFile: field('aof_enabled') === '1',
    isFileWritten: field('aof_last_write_status') !== 'err',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemory: Number(field('maxmemory')),
    usedMemory: Number(field('used_memory')),
    evictedKeys: Number(field('evicted_keys')),
  };
}

function readServers(redis: RedisConnection): Promise<ServerInfo[]> {
  return Promise.all(mastersOf(redis).map(async (node) => parseServerInfo(await node.info())));
}

export interface RedisSettings {
  version: string;
  /** Sentences for the log about settings that may lose data, and rights that the user lacks. */
  warnings: string[];
}

/**
 * Reads the settings on which durability depends from every master, and checks that its conversations have this layout
 * and that its user has all rights.
 */
export async function readRedisSettings(redis: RedisConnection, context: RedisContext) {
  const refusal = await findRefusal(context);
  if (refusal !== undefined) return { version: '', warnings: [`${refusal} ${RIGHTS_FIX}`] };
  const found = await readServers(redis);
  return {
    version: [...new Set(found.map(({ version }) => version))].join(', '),
    warnings: [...new Set(found.flatMap(warningsOf)), ...(await earlierData(context))],
  };
}

/** Warns about conversations of an earlier build. One conversation represents all. */
async function earlierData({ redis, keys }: RedisContext): Promise<string[]> {
  const first = async (list: string): Promise<string | undefined> =>
    (await redis.zrangebyscore(list, '-inf', '+inf', 'LIMIT', 0, 1))[0];
  const owner = await first(keys.ownersIndex);
  const sessionId = owner && (await first(keys.owner(parseOwner(owner)).sessions));
  const status = sessionId && (await redis.hget(keys.session(sessionId).root, 'status'));
  if (typeof status !== 'string') return [];
  return [
    'The conversations in this Redis were made by an earlier build and cannot be read: use another database or prefix, or delete them.',
  ];
}

/** Returns the problems of a master, with the settings that solve them; `doctor` says more. */
export function warningsOf(server: ServerInfo): string[] {
  const { version, hasAppendOnlyFile, maxmemoryPolicy, evictedKeys } = server;
  const all: [isFound: boolean, warning: string][] = [
    [
      !hasAppendOnlyFile,
      'Redis runs without an append-only file: a restart loses conversations. Set appendonly yes.',
    ],
    [
      maxmemoryPolicy !== 'noeviction',
      `Redis evicts keys when it is full (maxmemory-policy ${maxmemoryPolicy}): conversations get lost. Set maxmemory-policy noeviction.`,
    ],
    [
      evictedKeys > 0,
      `Redis has evicted ${String(evictedKeys)} keys since it started: conversations that had them are damaged.`,
    ],
    [isTooOld(version), `Redis ${version} is too old. Upgrade it to 6.2 or newer.`],
  ];
  return all.flatMap(([isFound, warning]) => (isFound ? warning : []));
}

/** Returns true before Redis 6.2, in which logs cannot be trimmed by sequence. */
export function isTooOld(version: string): boolean {
  return Number.parseFloat(version) < 6.2;
}

export interface RedisFacts {
  servers: ServerInfo[];
  clock: ClockReading;
  /** Reason why a change would be refused, such as a missing right; absent if it would not. */
  refusal?: string;
}

/**
 * Looks at a Redis with the credentials and commands of the stores, and changes no record.
 *
 * @param withinMs time limit of the connection
 * @throws Error with the reason if it cannot be reached, or refuses these credentials
 */
export async function inspectRedis(url: string, withinMs = 5_000): Promise<RedisFacts> {
  const redis = connectCommands(url, 'refuse');
  try {
    await connect(redis, withinMs);
    const servers = await callRedis(readServers(redis));
    return {
      servers,
      clock: await readClock(redis),
      refusal: await findRefusal(createContext(redis)),
    };
  } finally {
    closeClient(redis);
  }
}

/** Connects. The client retries, so the first reason is the informative one. */
async function connect(redis: RedisConnection, withinMs: number): Promise<void> {
  const isReady = new Promise((resolve, reject) => {
    redis.once('error', reject).once('ready', resolve);
  });
  redis.connect().catch(() => undefined);
  await withTimeout(withinMs, isReady);
}

async function readClock(redis: RedisConnection): Promise<ClockReading> {
  const askedAt = Date.now();
  const [seconds, microseconds] = await callRedis(redis.time());
  const repliedAt = Date.now();
  return { at: Number(seconds) * 1_000 + Number(microseconds) / 1_000, askedAt, repliedAt };
}

/** Reads a session that does not exist, because that checks the rights of all commands first. */
async function findRefusal({ look }: Pick<RedisContext, 'look'>): Promise<string | undefined> {
  try {
    await look('doctor', () => undefined);
    return undefined;
  } catch (error) {
    if (hasCode(error, 'unavailable')) return error.message;
    throw error;
  }
}

/** Logs what is wrong with a Redis that answers. Never throws. */
export async function warnOfRedis(
  settings: () => Promise<RedisSettings>,
  logger: { warn: (about: object, warning: string) => void },
): Promise<void> {
  const found = await settings().catch((error: unknown) => ({ warnings: [toReason(error)] }));
  for (const warning of found.warnings) logger.warn({}, warning);
}

const DEMANDED =
  'Where it demands a certificate, ?cert=<file>&key=<file> behind the address names yours.';

export const RIGHTS_FIX =
  'Give the user of REDIS_URL the rights that docs/redis.md lists (ACL SETUSER).';

/** Explains a problem that keeps a process from using Redis. The fix names the setting. */
export function toRedisFault(address: string, reason: string): { finding: string; fix: string } {
  if (/sentinels.*(?:WRONGPASS|NOAUTH|NOPERM)/.test(reason)) {
    return {
      finding: `The Sentinels at ${address} do not accept the credentials: ${reason}.`,
      fix: 'Correct sentinelUsername and sentinelPassword in REDIS_URL (docs/redis.md).',
    };
  }
  if (/WRONGPASS|NOAUTH|credentials/.test(reason)) {
    return {
      finding: `Redis at ${address} does not accept the credentials.`,
      fix: 'Correct user and password in REDIS_URL.',
    };
  }
  if (/NOPERM|may not use/.test(reason)) return { finding: `${reason}.`, fix: RIGHTS_FIX };
  if (/certificate (?:has expired|is not yet valid)/i.test(reason)) {
    return {
      finding: `The certificate of Redis at ${address} is not valid today: ${reason}.`,
      fix: 'Renew it on that server; or correct the clock of this machine.',
    };
  }
  // The reason contains the name of a missing server, which may be `redis-tls`.
  const isFound = !/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(reason);
  if (isFound && /certificate|SSL|TLS|wrong version/i.test(reason)) {
    return {
      finding: `Redis at ${address} cannot be reached by TLS: ${reason}.`,
      fix: `Use rediss:// in REDIS_URL for TLS and redis:// without; NODE_EXTRA_CA_CERTS names an own authority. ${DEMANDED}`,
    };
  }
  const fix = 'Start it, or correct REDIS_URL: redis:// without TLS, rediss:// where it wants TLS.';
  return {
    finding: `Redis at ${address} cannot be reached: ${reason}.`,
    // The server's refusal may come after the connection was closed.
    fix: address.startsWith('rediss') ? `${fix} ${DEMANDED}` : fix,
  };
}

/**
 * Explains why a process cannot use the Redis of its settings, with the fix; undefined if it can. Never throws.
 *
 * @param address in its displayed form, without secrets
 * @param withinMs time limit of the connection
 */
export async function explainRedis(url: string, address: string, withinMs?: number) {
  try {
    const { refusal } = await inspectRedis(url, withinMs);
    return refusal === undefined ? undefined : `${refusal} ${RIGHTS_FIX}`;
  } catch (error) {
    const { finding, fix } = toRedisFault(address, toReason(error));
    return `${finding} ${fix}`;
  }
}
