import {
  isTooOld,
  RIGHTS_FIX,
  toRedisFault,
  type RedisFacts,
  type ServerInfo,
} from '../../store/redis/inspect-redis.js';
import { verdictsOn, type Verdict } from './verdict.js';

export type RedisLook = { address: string } & ({ facts: RedisFacts } | { reason: string });

const FULL = 0.9;

export function checkRedis(look: RedisLook): Verdict[] {
  const redis = verdictsOn('redis');
  if ('reason' in look) {
    const { finding, fix } = toRedisFault(look.address, look.reason);
    return [redis.fail(finding, fix)];
  }
  const { servers, refusal } = look.facts;
  const of = (judge: (server: ServerInfo) => Verdict): Verdict => worst(servers.map(judge));
  return [
    of((server) => checkVersion(server, look.address)),
    of(checkPersistence),
    of(checkMemory),
    checkRights(refusal),
  ];
}

function checkVersion({ version, isReplica }: ServerInfo, address: string): Verdict {
  const redis = verdictsOn('redis');
  if (isReplica) {
    return redis.fail(
      `${address} is a replica, which refuses writes.`,
      'Let REDIS_URL name the master, or the Sentinels that know it (redis-sentinel://…).',
    );
  }
  if (!isTooOld(version)) return redis.ok(`${version} at ${address}.`);
  return redis.fail(
    `${address} runs Redis ${version}, which is too old.`,
    'Upgrade it to 6.2 or newer, or let REDIS_URL name another server.',
  );
}

function checkPersistence({ hasAppendOnlyFile, isFileWritten }: ServerInfo): Verdict {
  const persistence = verdictsOn('redis persistence');
  if (!hasAppendOnlyFile) {
    return persistence.fail(
      'Redis keeps no append-only file: a restart loses conversations and approvals.',
      'Set appendonly yes (CONFIG SET appendonly yes, then CONFIG REWRITE).',
    );
  }
  if (isFileWritten) return persistence.ok('It keeps an append-only file.');
  return persistence.fail(
    'Redis could not write its append-only file.',
    'Look at the space and the rights of the folder that its setting dir names.',
  );
}

function checkMemory(server: ServerInfo): Verdict {
  const memory = verdictsOn('redis memory');
  const { maxmemoryPolicy, maxmemory, usedMemory, evictedKeys } = server;
  if (maxmemoryPolicy !== 'noeviction') {
    return memory.fail(
      `Redis evicts keys when it is full (maxmemory-policy ${maxmemoryPolicy}): conversations get lost.`,
      'Set maxmemory-policy noeviction (CONFIG SET maxmemory-policy noeviction, then CONFIG REWRITE).',
    );
  }
  if (evictedKeys > 0) {
    return memory.warn(
      `Redis has evicted ${String(evictedKeys)} keys since it started.`,
      'maxmemory-policy is noeviction by now; conversations that were evicted are lost.',
    );
  }
  if (maxmemory === 0) return memory.ok('It evicts nothing, and has no limit.');
  const share = usedMemory / maxmemory;
  const used = `It uses ${String(Math.round(share * 100))} % of its maxmemory.`;
  if (share < FULL) return memory.ok(`It evicts nothing. ${used}`);
  return memory.warn(used, 'Raise maxmemory, or keep conversations for less time (SESSION_TTL).');
}

function checkRights(refusal: string | undefined): Verdict {
  const rights = verdictsOn('redis rights');
  if (refusal === undefined) return rights.ok('The user of REDIS_URL may use every command.');
  return rights.fail(refusal, RIGHTS_FIX);
}

const ORDER = ['ok', 'note', 'warn', 'fail'] as const;

function worst(verdicts: Verdict[]): Verdict {
  const [first, ...others] = verdicts;
  if (first === undefined) throw new Error('no server was looked at');
  return others.reduce(
    (found, next) => (ORDER.indexOf(next.level) > ORDER.indexOf(found.level) ? next : found),
    first,
  );
}
